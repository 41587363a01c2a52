# data/*.csv -> gen/eco_data_*.c through tools/csv2c, a host program. One run writes everything; it
# runs again when a CSV, data/columns.def or the program changes, and when a file is added.
# A cross build (WebAssembly) names a csv2c of the build machine in ECO_CSV2C.
set(ECO_CSV2C "" CACHE FILEPATH "csv2c of the build machine, for cross builds")

function(eco_generate_data out)
  set(data ${CMAKE_SOURCE_DIR}/data)
  set(gen ${CMAKE_BINARY_DIR}/gen)
  # The files of the tables, as columns.def lists them.
  file(STRINGS ${data}/columns.def lines REGEX "^ECO_TABLE\\(")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${data}/columns.def)
  set(inputs columns.def)
  set(outputs ${gen}/eco_data_text.c ${gen}/eco_data_digests.c ${gen}/eco_data_columns.c)
  foreach(line ${lines})
    string(REGEX REPLACE "^ECO_TABLE\\(([a-z_]+), \"([^\"]*)\".*" "\\1" table "${line}")
    string(REGEX REPLACE "^ECO_TABLE\\(([a-z_]+), \"([^\"]*)\".*" "\\2" files "${line}")
    separate_arguments(files)
    list(APPEND outputs ${gen}/eco_data_${table}.c)
    foreach(file ${files})
      if(file MATCHES "\\.csv$")
        list(APPEND inputs ${file})
      else()
        file(GLOB found CONFIGURE_DEPENDS RELATIVE ${data} ${data}/${file}/*.csv)
        list(APPEND inputs ${found})
      endif()
    endforeach()
  endforeach()
  list(TRANSFORM inputs PREPEND ${data}/ OUTPUT_VARIABLE depends)

  if(ECO_CSV2C)
    set(csv2c ${ECO_CSV2C})
  else()
    add_executable(csv2c ${CMAKE_SOURCE_DIR}/tools/csv2c.c)
    eco_flags(csv2c)
    target_include_directories(csv2c PRIVATE ${data})
    target_link_libraries(csv2c PRIVATE eco_base m)
    add_test(NAME unit/dataset/csv2c_rejects
             COMMAND ${CMAKE_SOURCE_DIR}/tests/unit/dataset/csv2c_rejects.sh $<TARGET_FILE:csv2c>
                     ${CMAKE_SOURCE_DIR})
    set(csv2c csv2c)
  endif()
  add_custom_command(
    OUTPUT ${outputs} ${gen}/eco_data.h
    COMMAND ${csv2c} ${gen} ${data} ${inputs}
    DEPENDS ${depends} ${csv2c}
    COMMENT "data: CSV tables -> C" VERBATIM)
  set(${out} ${outputs} ${gen}/eco_data.h PARENT_SCOPE)
endfunction()
