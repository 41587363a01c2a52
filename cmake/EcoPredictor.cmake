# data/fitted/predictor_*.csv -> gen/eco_predictor.c through tools/predictorgen, a host program.
# A cross build (WebAssembly) names a predictorgen of the build machine in ECO_PREDICTORGEN.
set(ECO_PREDICTORGEN "" CACHE FILEPATH "predictorgen of the build machine, for cross builds")

function(eco_generate_predictor out)
  set(fitted ${CMAKE_SOURCE_DIR}/data/fitted)
  set(gen ${CMAKE_BINARY_DIR}/gen)
  set(points ${fitted}/predictor_points.csv)
  set(theta ${fitted}/predictor_theta.csv)
  if(ECO_PREDICTORGEN)
    set(tool ${ECO_PREDICTORGEN})
  else()
    add_executable(predictorgen ${CMAKE_SOURCE_DIR}/tools/predictorgen.c
                   ${CMAKE_SOURCE_DIR}/src/dataset/points_csv.c)
    eco_flags(predictorgen)
    target_link_libraries(predictorgen PRIVATE eco_core eco_base m)
    set(tool predictorgen)
  endif()
  add_custom_command(
    OUTPUT ${gen}/eco_predictor.c
    COMMAND ${CMAKE_COMMAND} -E make_directory ${gen}
    COMMAND ${tool} gen ${points} ${theta} ${gen}/eco_predictor.c
    DEPENDS ${points} ${theta} ${tool}
    COMMENT "data: fitted predictor -> C" VERBATIM)
  set(${out} ${gen}/eco_predictor.c PARENT_SCOPE)
endfunction()
