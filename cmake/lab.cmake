# The laboratory, dasgd::lab: other algorithms, comparisons with them, the paper's experiments. Training needs none of it.
dasgd_layer(rivals PER_NUMBER FOLDER lab/rivals LINK core data run random record topology virtual_time PRIVATE_LINK fmt::fmt
            SOURCES methods/ad_psgd.cpp methods/all_rivals.cpp methods/fragile.cpp kind.cpp mixing.cpp open_library.cpp play.cpp vectors.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")  # as with thin products
  set_source_files_properties(lab/rivals/vectors.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
endif()

# What a library of rivals and dasgd must agree on: all headers by which they know each other, as a short text in a header.
set(border ${PROJECT_SOURCE_DIR}/src/dasgd/lab/rivals/kind.hpp)
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
file(CONFIGURE OUTPUT generated/dasgd/lab/rivals/rival_headers.hpp CONTENT "// Made by the build: the headers that a library of rivals shares with dasgd.
#pragma once

#define DASGD_RIVAL_HEADERS \"${PROJECT_VERSION}-${hash}\"
")
target_include_directories(dasgd_rivals PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/generated>)
target_link_libraries(dasgd_rivals PUBLIC ${CMAKE_DL_LIBS})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/dasgd/lab/rivals/rival_headers.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dasgd/lab/rivals)

dasgd_layer(experiments ONCE_PER_RUN FOLDER lab/experiments LINK core run record report rivals runtime sim staleness theory topology
            PRIVATE_LINK fmt::fmt nlohmann_json::nlohmann_json
            SOURCES burst.cpp cell_file.cpp rival_numbers.cpp slow_worker.cpp slow_worker_cells.cpp topology_staleness.cpp tridiagonal_numbers.cpp worker_scaling.cpp)
dasgd_layer(referee ONCE_PER_RUN FOLDER lab/referee LINK core problems random record report rivals run runtime sim virtual_time
            PRIVATE_LINK fmt::fmt SYSTEM ${DASGD_XXHASH}
            SOURCES contest/model_judge.cpp page/first_rounds.cpp hold.cpp journal.cpp lower_bound.cpp page/curves.cpp page/explain.cpp page/maps.cpp page/paper.cpp page/pictures.cpp page/profile.cpp contest/real_dasgd.cpp records.cpp page/result_files.cpp results.cpp contest/run_one.cpp tuning.cpp verdict.cpp contest/worlds.cpp)
target_link_libraries(dasgd_referee PUBLIC nlohmann_json::nlohmann_json)
dasgd_layer(planner FOLDER lab/planner LINK core random referee report rivals sim virtual_time PRIVATE_LINK fmt::fmt nlohmann_json::nlohmann_json
            SOURCES network_case.cpp network_study.cpp plan.cpp plan_text.cpp stand_in.cpp)
set(all experiments planner)
if(DASGD_BUILD_APP)
  dasgd_layer(comparison ONCE_PER_RUN FOLDER lab/comparison LINK referee settings PRIVATE_LINK fmt::fmt SOURCES comparison.cpp)
  list(APPEND all comparison)
endif()
dasgd_layer(lab LINK ${all})
