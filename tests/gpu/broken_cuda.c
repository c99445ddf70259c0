// To be preloaded: CUDA as it answers where a GPU cannot be had. BROKEN_CUDA says how:
//   old         the driver is older than the runtime
//   busy        another process has the GPU for itself
//   lost:FILE   the GPU is gone as soon as there is such a file
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { insufficient_driver = 35, devices_unavailable = 46, unknown = 999 };

static int is(const char* how) {
  const char* const wanted = getenv("BROKEN_CUDA");
  return wanted && strncmp(wanted, how, strlen(how)) == 0;
}
static int lost(void) {
  static volatile int gone;
  return gone || (gone = is("lost:") && access(getenv("BROKEN_CUDA") + 5, F_OK) == 0);
}

// Networks are a module that is loaded late, and the runtime with it, out of sight of RTLD_NEXT.
static void* real(const char* name) {
  static const char* const runtimes[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
  void* found = dlsym(RTLD_NEXT, name);
  for (unsigned k = 0; !found && k < sizeof(runtimes) / sizeof(runtimes[0]); ++k) {
    void* const runtime = dlopen(runtimes[k], RTLD_LAZY | RTLD_NOLOAD);
    if (runtime) found = dlsym(runtime, name);
  }
  return found;
}
#define REAL(name) ((__typeof__(&name))real(#name))

int cudaGetDeviceCount(int* count) {
  if (!is("old")) return REAL(cudaGetDeviceCount)(count);
  *count = 0;
  return insufficient_driver;
}
int cudaDriverGetVersion(int* version) {
  if (!is("old")) return REAL(cudaDriverGetVersion)(version);
  *version = 11040;
  return 0;
}
int cudaMalloc(void** at, size_t size) {
  if (is("busy")) return devices_unavailable;
  return lost() ? unknown : REAL(cudaMalloc)(at, size);
}
int cudaGraphLaunch(void* graph, void* stream) {
  return lost() ? unknown : REAL(cudaGraphLaunch)(graph, stream);
}
int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, void* stream) {
  return lost() ? unknown : REAL(cudaMemcpyAsync)(to, from, size, kind, stream);
}
int cudaEventQuery(void* event) { return lost() ? unknown : REAL(cudaEventQuery)(event); }
int cudaEventRecord(void* event, void* stream) {
  return lost() ? unknown : REAL(cudaEventRecord)(event, stream);
}
int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return lost() ? unknown : REAL(cudaEventRecordWithFlags)(event, stream, flags);
}
int cudaEventSynchronize(void* event) {
  return lost() ? unknown : REAL(cudaEventSynchronize)(event);
}
int cudaStreamSynchronize(void* stream) {
  return lost() ? unknown : REAL(cudaStreamSynchronize)(stream);
}
