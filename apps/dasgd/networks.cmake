# dasgd_networks.so: all that needs LibTorch, opened by the program when a network is asked for
# (docs/decisions/0008-networks-in-a-module.md). Without LibTorch there is no module, and the program says so.

# Both sides must be built from the same headers by the same compiler.
file(GLOB DASGD_NETWORK_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/dasgd/core/*.hpp)
list(APPEND DASGD_NETWORK_HEADERS ${PROJECT_SOURCE_DIR}/src/dasgd/adapters/torch/network.hpp
     ${PROJECT_SOURCE_DIR}/src/dasgd/data/samples.hpp ${PROJECT_SOURCE_DIR}/src/dasgd/random/random.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DASGD_NETWORK_HEADERS})
set(hashes)
foreach(header ${DASGD_NETWORK_HEADERS})
  file(SHA1 ${header} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA1 hash "${hashes} ${CMAKE_CXX_FLAGS} ${CMAKE_BUILD_TYPE}")
string(SUBSTRING ${hash} 0 12 hash)
add_library(dasgd_network_module INTERFACE)
target_compile_definitions(dasgd_network_module INTERFACE
  DASGD_NETWORK_MODULE_BUILD="${PROJECT_VERSION}-${hash}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")

set(DASGD_NETWORKS_DIRECTORY ${CMAKE_INSTALL_LIBDIR}/dasgd)
file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/dasgd)
set_source_files_properties(network_loader.cpp PROPERTIES COMPILE_DEFINITIONS
                            DASGD_NETWORK_MODULE_DIRECTORY="${from_program}")
target_link_libraries(dasgd_app PRIVATE dasgd_network_module ${CMAKE_DL_LIBS})
# Exceptions and casts cross the border: types must be the same objects on both sides.
target_link_options(dasgd_app PRIVATE -Wl,--dynamic-list=${CMAKE_CURRENT_SOURCE_DIR}/shared_types.list)
set_property(TARGET dasgd_app APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/shared_types.list)

if(DASGD_TORCH)
  add_library(dasgd_networks MODULE network_module.cpp)
  set_target_properties(dasgd_networks PROPERTIES PREFIX "" INSTALL_RPATH_USE_LINK_PATH ON
                        LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:dasgd_app>)
  target_link_libraries(dasgd_networks PRIVATE dasgd_network_module dasgd_adapters)
  add_dependencies(dasgd_app dasgd_networks)
  install(TARGETS dasgd_networks LIBRARY DESTINATION ${DASGD_NETWORKS_DIRECTORY})
endif()
