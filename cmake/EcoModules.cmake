# Helpers of the build: one static library per folder of src/, the generated data, the program.

set(ECO_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                 -Wmissing-prototypes -Wvla -Wformat=2)
if(ECO_WERROR)
  list(APPEND ECO_WARNINGS -Werror)
endif()

# A sanitized program is large: clang's own linker needs half the time for it. Only this compiler
# can say whether it finds one: clang 15 does not take the lld of clang 14.
include(CheckLinkerFlag)
set(ECO_LINKER)
if(ECO_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
  check_linker_flag(C -fuse-ld=lld ECO_HAVE_LLD)
  if(ECO_HAVE_LLD)
    set(ECO_LINKER -fuse-ld=lld)
  endif()
endif()

# Flags every target of the project gets. Contraction is off so that one formula gives one value
# on every machine (engine kernels may turn it on for themselves).
function(eco_flags target)
  target_compile_options(${target} PRIVATE ${ECO_WARNINGS} -ffp-contract=off -fno-common)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L
                             ECO_VERSION="${PROJECT_VERSION}")
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  if(ECO_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${ECO_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${ECO_SANITIZE} ${ECO_LINKER})
  endif()
endfunction()

# eco_add_module(name [DEPS ...] [GENERATED]): src/<name>/*.c as the static library eco_<name>.
function(eco_add_module name)
  cmake_parse_arguments(M "GENERATED" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  if(M_GENERATED)
    include(EcoData)
    eco_generate_data(generated)
    include(EcoPredictor)
    eco_generate_predictor(predictor)
    list(APPEND sources ${generated} ${predictor})
  endif()
  if(NOT sources)
    add_library(eco_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(eco_${name} STATIC ${sources})
    eco_flags(eco_${name})
    set(scope PUBLIC)
    if(M_GENERATED)
      target_include_directories(eco_${name} PUBLIC ${CMAKE_BINARY_DIR}/gen)
    endif()
  endif()
  foreach(dep ${M_DEPS})
    target_link_libraries(eco_${name} ${scope} eco_${dep})
  endforeach()
  if(name MATCHES "^(base|core)$")
    target_link_libraries(eco_${name} ${scope} m)
  endif()
endfunction()

# The main program: links no network and no database library (start-up, docs/architecture.md).
function(eco_add_program)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.c)
  if(sources)
    add_executable(ecocompute ${sources})
    eco_flags(ecocompute)
    target_link_libraries(ecocompute PRIVATE eco_mcp eco_ops eco_report eco_model eco_power eco_dataset
                          eco_core eco_base m ${CMAKE_DL_LIBS})
  endif()
endfunction()

add_custom_target(helpers) # those whose libraries are here
# eco_add_helper(NAME PACKAGES pkg... [DEPS module...]): src/helpers/<name>.c or src/helpers/<name>_*.c
# as ecocompute-<name>, which the main program runs from its own folder or from libexec. Without its
# libraries it is left out, and the main program says so when it is wanted.
function(eco_add_helper name)
  cmake_parse_arguments(H "" "" "PACKAGES;DEPS" ${ARGN})
  find_package(PkgConfig QUIET)
  if(H_PACKAGES)
    if(PkgConfig_FOUND)
      pkg_check_modules(ECO_HELPER_${name} QUIET ${H_PACKAGES})
    endif()
    if(NOT ECO_HELPER_${name}_FOUND)
      message(NOTICE "ecocompute-${name} is not built: ${H_PACKAGES} is missing (docs/api.md)")
      return()
    endif()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/helpers/${name}.c
       ${CMAKE_SOURCE_DIR}/src/helpers/${name}_*.c)
  add_executable(ecocompute-${name} ${sources})
  eco_flags(ecocompute-${name})
  foreach(dep ${H_DEPS})
    target_link_libraries(ecocompute-${name} PRIVATE eco_${dep})
  endforeach()
  target_include_directories(ecocompute-${name} SYSTEM PRIVATE ${ECO_HELPER_${name}_INCLUDE_DIRS})
  target_link_libraries(ecocompute-${name} PRIVATE ${ECO_HELPER_${name}_LINK_LIBRARIES} m
                        ${CMAKE_DL_LIBS})
  add_dependencies(helpers ecocompute-${name})
  install(TARGETS ecocompute-${name} RUNTIME DESTINATION libexec/ecocompute)
endfunction()
