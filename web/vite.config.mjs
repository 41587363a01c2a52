// One script, one style sheet, relative addresses: the folder works under any path of any server.
export default {
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: process.env.ECO_WEB_OUT,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: 'page.js',
        assetFileNames: 'page[extname]',
      },
    },
  },
};
