# What a library of rivals and dasgd must agree on: all headers by which they know each other, as a short text in a header.
include(${PROJECT_SOURCE_DIR}/cmake/header_closure.cmake)
set(border ${PROJECT_SOURCE_DIR}/src/dasgd/rivals/kind.hpp)
dasgd_header_closure(headers ${border})
list(APPEND headers ${border})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
set(hashes)
foreach(header ${headers})
  file(SHA1 ${header} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA1 hash "${hashes} ${DASGD_SANITIZE}")
string(SUBSTRING ${hash} 0 12 hash)
file(CONFIGURE OUTPUT generated/dasgd/rivals/rival_headers.hpp CONTENT "// Made by the build: the headers that a library of rivals shares with dasgd.
#pragma once

#define DASGD_RIVAL_HEADERS \"${PROJECT_VERSION}-${hash}\"
")
target_include_directories(dasgd_rivals PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/generated>)
target_link_libraries(dasgd_rivals PUBLIC ${CMAKE_DL_LIBS})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/dasgd/rivals/rival_headers.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dasgd/rivals)
