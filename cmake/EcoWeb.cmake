# The page's engine: the modules that layers.txt marks 'wasm', and src/wasm, as one WebAssembly
# module without imports (clang-14, lld-14, wasi-libc). Without them the page is not built.
find_program(ECO_WASM_CC clang-14)
find_program(ECO_WASM_LD wasm-ld-14)
set(ECO_WASI_INCLUDE /usr/include/wasm32-wasi CACHE PATH "headers of wasi-libc")
if(NOT ECO_WASM_CC OR NOT ECO_WASM_LD OR NOT EXISTS ${ECO_WASI_INCLUDE}/stdio.h)
  message(NOTICE "-- page: not built (no clang-14, lld-14 or wasi-libc: scripts/setup.sh test)")
  return()
endif()
execute_process(COMMAND ${ECO_WASM_CC} -print-resource-dir OUTPUT_VARIABLE resource
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS ${resource}/lib/wasi/libclang_rt.builtins-wasm32.a)
  message(NOTICE "-- page: not built (no libclang-rt-14-dev-wasm32: scripts/setup.sh test)")
  return()
endif()

# A header that wasi-libc lacks must not come from the host's C library: -nostdinc.
set(flags --target=wasm32-wasi -Oz -flto -std=c17 -nostdinc -isystem ${ECO_WASI_INCLUDE}
          -isystem ${resource}/include -ffp-contract=off -D_POSIX_C_SOURCE=200809L
          -DECO_VERSION="${PROJECT_VERSION}" -DECO_PREDICTOR_AT_START)
set(ours -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
         -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_BINARY_DIR}/gen)
if(ECO_WERROR)
  list(APPEND ours -Werror)
endif()
set(dir ${CMAKE_BINARY_DIR}/wasm)
set(eco_wasm_objects)

# eco_wasm_object(SOURCE NAME FLAG...): one object file; headers are tracked.
function(eco_wasm_object source name)
  set(object ${dir}/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${ECO_WASM_CC} ${flags} ${ARGN} -MD -MF ${object}.d -c
            ${source} -o ${object}
    DEPENDS ${source} ${generated} DEPFILE ${object}.d
    COMMENT "wasm: ${name}" VERBATIM)
  set(eco_wasm_objects ${eco_wasm_objects} ${object} PARENT_SCOPE)
endfunction()

get_target_property(sources eco_dataset SOURCES)
set(generated ${sources})
list(FILTER generated INCLUDE REGEX "/gen/")
set(generated_c ${generated})
list(FILTER generated_c INCLUDE REGEX "\\.c$")
foreach(source ${generated_c})
  get_filename_component(name ${source} NAME_WE)
  eco_wasm_object(${source} gen_${name} ${ours})
endforeach()

file(STRINGS ${CMAKE_SOURCE_DIR}/layers.txt rows REGEX "^wasm ")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/layers.txt)
foreach(row ${rows} "wasm wasm -")
  string(REGEX MATCH "^wasm ([a-z]+) +- *(.*)$" matched ${row})
  set(module ${CMAKE_MATCH_1})
  separate_arguments(native UNIX_COMMAND "${CMAKE_MATCH_2}")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*.c)
  set(more)
  if(module STREQUAL audit AND ECO_AUDIT_BUILT)
    set(more -DECO_HAVE_TREE_SITTER -isystem ${ECO_TREE_SITTER_CORE}/include)
  endif()
  foreach(source ${sources})
    get_filename_component(file ${source} NAME)
    if(NOT file IN_LIST native)
      get_filename_component(name ${source} NAME_WE)
      eco_wasm_object(${source} ${module}_${name} ${ours} ${more})
    endif()
  endforeach()
endforeach()
if(ECO_AUDIT_BUILT)
  set(theirs -w -D_GNU_SOURCE -D_WASI_EMULATED_PROCESS_CLOCKS -DNDEBUG
             -I${ECO_TREE_SITTER_CORE}/include -I${ECO_TREE_SITTER_CORE}/src)
  eco_wasm_object(${ECO_TREE_SITTER_CORE}/src/lib.c ts_lib ${theirs})
  eco_wasm_object(${ECO_TREE_SITTER_PYTHON}/parser.c ts_parser -w -I${ECO_TREE_SITTER_PYTHON})
  eco_wasm_object(${ECO_TREE_SITTER_PYTHON}/scanner.c ts_scanner -w -I${ECO_TREE_SITTER_PYTHON})
endif()

set(ECO_WASM ${dir}/ecocompute.wasm)
add_custom_command(
  OUTPUT ${ECO_WASM}
  COMMAND ${ECO_WASM_CC} --target=wasm32-wasi -Oz -flto -mexec-model=reactor -Wl,--strip-all
          -Wl,-z,stack-size=1048576 -Wl,--stack-first ${eco_wasm_objects} -lm
          -lwasi-emulated-process-clocks -o ${ECO_WASM}
  DEPENDS ${eco_wasm_objects} COMMAND_EXPAND_LISTS
  COMMENT "wasm: link" VERBATIM)
add_custom_target(wasm DEPENDS ${ECO_WASM})

# dist/ in the build folder; `make web` copies it into the source tree.
find_program(ECO_NODE node PATHS ${ECO_NODE_MODULES}/.page-node/bin NO_DEFAULT_PATH)
find_program(ECO_NODE node)
set(node_version 0)
if(ECO_NODE)
  execute_process(COMMAND ${ECO_NODE} -p process.versions.node OUTPUT_VARIABLE node_version
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(node_version VERSION_LESS 20.19) # Vite's own limit
  message(NOTICE "-- page: only its engine is built (Node ${node_version}, 20.19 is needed: "
                 "scripts/setup.sh test)")
  return()
endif()
if(NOT ECO_NODE OR NOT EXISTS ${ECO_NODE_MODULES}/vite/package.json OR
   NOT EXISTS ${ECO_NODE_MODULES}/typescript/package.json)
  message(NOTICE "-- page: only its engine is built (no node, vite or typescript: scripts/setup.sh test)")
  return()
endif()
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*)
set(ECO_WEB_DIST ${CMAKE_BINARY_DIR}/dist)
add_custom_command(
  OUTPUT ${ECO_WEB_DIST}/ecocompute.html ${ECO_WEB_DIST}/web/index.html
  COMMAND ${ECO_NODE} ${CMAKE_SOURCE_DIR}/web/build/make.mjs ${ECO_WASM} ${ECO_WEB_DIST}
  DEPENDS ${ECO_WASM} ${page_sources}
  COMMENT "page: dist/" VERBATIM)
add_custom_target(web DEPENDS ${ECO_WEB_DIST}/ecocompute.html)
