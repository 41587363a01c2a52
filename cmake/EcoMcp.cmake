# docs/*.md that MCP serves as resources -> gen/eco_mcp_docs.c.
set(texts ${CMAKE_SOURCE_DIR}/docs/methodology.md ${CMAKE_SOURCE_DIR}/docs/calibration.md)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/gen/eco_mcp_docs.c
  COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/gen/eco_mcp_docs.c "-DIN=${texts}"
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
  DEPENDS ${texts} ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
  COMMENT "docs: Markdown -> C" VERBATIM)
target_sources(eco_mcp PRIVATE ${CMAKE_BINARY_DIR}/gen/eco_mcp_docs.c)
target_include_directories(eco_mcp PRIVATE ${CMAKE_SOURCE_DIR}/src/mcp)
find_package(Threads REQUIRED)
target_link_libraries(eco_mcp PUBLIC Threads::Threads)
