# The parser for src/audit: C sources from two npm packages (package.json), compiled here and
# never committed. Without them the audit is built as a stub that says so.
set(ECO_NODE_MODULES ${CMAKE_SOURCE_DIR}/node_modules CACHE PATH "where npm put its packages")
set(ECO_TREE_SITTER_CORE ${ECO_NODE_MODULES}/tree-sitter/vendor/tree-sitter/lib)
set(ECO_TREE_SITTER_PYTHON ${ECO_NODE_MODULES}/tree-sitter-python/src)

if(EXISTS ${ECO_TREE_SITTER_CORE}/src/lib.c AND EXISTS ${ECO_TREE_SITTER_PYTHON}/parser.c)
  add_library(eco_treesitter STATIC ${ECO_TREE_SITTER_CORE}/src/lib.c ${ECO_TREE_SITTER_PYTHON}/parser.c ${ECO_TREE_SITTER_PYTHON}/scanner.c)
  set_target_properties(eco_treesitter PROPERTIES OUTPUT_NAME treesitter) # not ours: no eco_ name
  set_target_properties(eco_treesitter PROPERTIES C_STANDARD 11 EXPORT_COMPILE_COMMANDS OFF)
  target_compile_definitions(eco_treesitter PRIVATE _GNU_SOURCE)
  target_compile_options(eco_treesitter PRIVATE -O2 -w -fno-common)
  target_include_directories(eco_treesitter PRIVATE ${ECO_TREE_SITTER_CORE}/src ${ECO_TREE_SITTER_PYTHON})
  target_include_directories(eco_treesitter SYSTEM PUBLIC ${ECO_TREE_SITTER_CORE}/include)
  target_link_libraries(eco_audit PUBLIC eco_treesitter)
  target_compile_definitions(eco_audit PRIVATE ECO_HAVE_TREE_SITTER)
  set(ECO_AUDIT_BUILT ON)
  message(STATUS "audit: built in, with tree-sitter from ${ECO_NODE_MODULES}")
else()
  set(ECO_AUDIT_BUILT OFF)
  message(NOTICE "-- audit: not built in (run scripts/setup.sh test, then build again)")
endif()
find_package(Threads REQUIRED)
target_link_libraries(eco_audit PUBLIC Threads::Threads)
