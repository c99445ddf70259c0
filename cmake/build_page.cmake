# Makes the page of reports a C++ file: built from web/ with npm where that is possible, else from web/dist, which
# release archives carry, else empty, and reports are off.
#   cmake -DWEB=web -DWORK=DIR -DOUT=built_page.cpp [-DNPM=npm] -P build_page.cmake
set(page "")
if(NPM AND EXISTS ${WEB}/package.json)
  file(LOCK ${WEB}/.build.lock GUARD PROCESS)  # two build trees share node_modules
  file(SHA256 ${WEB}/package-lock.json wanted)
  set(stamp ${WEB}/node_modules/.dasgd)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(NOT installed STREQUAL wanted)
    execute_process(COMMAND ${NPM} ci --no-progress --loglevel=error WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed
                    OUTPUT_QUIET ERROR_VARIABLE said TIMEOUT 300)
    if(failed)
      string(REPLACE "\n" " " said "${said}")
      message("The packages of web/ cannot be installed: ${said}")
    else()
      file(WRITE ${stamp} ${wanted})
      set(installed ${wanted})
    endif()
  endif()
  if(installed STREQUAL wanted)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env DASGD_PAGE_DIR=${WORK} ${NPM} run build --silent
                    WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
      message(FATAL_ERROR "web/ does not build:\n${said}")
    endif()
    set(page ${WORK}/index.html)
  endif()
endif()
if(NOT page AND EXISTS ${WEB}/dist/index.html)
  set(page ${WEB}/dist/index.html)
  message("The page of reports comes from web/dist")
endif()
if(page)
  file(READ ${page} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
else()
  message("Reports are off: install nodejs and npm, and configure again, for report.html and the live view")
  set(bytes "")
endif()
file(WRITE ${OUT} "// Made from web/ by build_page.cmake.
#include \"dasgd/report/page/built_page.hpp\"
namespace dasgd::report {
namespace {
constexpr unsigned char bytes[] = {${bytes}0};
}
std::string_view built_page() { return {reinterpret_cast<const char*>(bytes), sizeof bytes - 1}; }
}  // namespace dasgd::report
")
