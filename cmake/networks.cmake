# dasgd_networks.so: all that needs LibTorch, opened when a network is asked for
# (docs/decisions/0008-networks-in-a-module.md). Without LibTorch there is no module, and programs say so.

# Both sides must be built from the same headers by the same compiler: those of the border, and those by which the module
# knows the samples that it is given.
include(${PROJECT_SOURCE_DIR}/cmake/header_closure.cmake)
file(GLOB_RECURSE DASGD_NETWORK_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/dasgd/adapters/torch/*.cpp)
dasgd_header_closure(DASGD_NETWORK_HEADERS ${DASGD_NETWORK_SOURCES})
list(FILTER DASGD_NETWORK_HEADERS EXCLUDE REGEX /adapters/torch/)  # the module's own
dasgd_header_closure(border ${PROJECT_SOURCE_DIR}/src/dasgd/models/network_module.cpp)
list(APPEND DASGD_NETWORK_HEADERS ${border})
list(REMOVE_DUPLICATES DASGD_NETWORK_HEADERS)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DASGD_NETWORK_HEADERS})
set(hashes)
foreach(header ${DASGD_NETWORK_HEADERS})
  file(SHA1 ${header} hash)
  string(APPEND hashes ${hash})
endforeach()
# Where the sources lie makes no difference, and would make every build another one.
string(REGEX REPLACE "-f[a-z]+-prefix-map=[^ ]*" "" flags "${CMAKE_CXX_FLAGS}")
string(SHA1 hash "${hashes} ${flags} ${CMAKE_BUILD_TYPE}")
string(SUBSTRING ${hash} 0 12 hash)
set(build "${PROJECT_VERSION}-${hash}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/dasgd)
target_compile_definitions(dasgd_models PRIVATE DASGD_NETWORK_MODULE_BUILD="${build}"
                           DASGD_NETWORK_MODULE_DIRECTORY="${from_program}")
target_link_libraries(dasgd_models PUBLIC ${CMAKE_DL_LIBS})

if(DASGD_TORCH AND DASGD_BUILD_APP)
  add_library(dasgd_networks MODULE models/network_module.cpp)
  target_compile_definitions(dasgd_networks PRIVATE DASGD_NETWORK_MODULE_BUILD="${build}")
  set_target_properties(dasgd_networks PROPERTIES PREFIX "" INSTALL_RPATH_USE_LINK_PATH ON)
  target_link_libraries(dasgd_networks PRIVATE dasgd_adapters)
  install(TARGETS dasgd_networks LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/dasgd)
endif()
