// One HTML file with everything in it: scripts, styles, no network.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    outDir: process.env.DASGD_PAGE_DIR || "dist",
    emptyOutDir: true,
    target: "es2021",
    modulePreload: false,
    reportCompressedSize: false,
  },
  logLevel: "warn",
});
