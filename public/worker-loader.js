// Starts the worker's code, and tells the page when it cannot be started or has broken.
const crashed = (reason) => {
  const message = String(reason?.message ?? reason);
  postMessage(JSON.stringify({ crashed: { message } }));
};
// A trap inside a promise reaches nobody else.
addEventListener("unhandledrejection", ({ reason }) => {
  if (reason instanceof WebAssembly.RuntimeError || reason instanceof RangeError) crashed(reason);
});
importScripts(new URL("worker.js", location.href));
wasm_bindgen({ module_or_path: new URL("worker_bg.wasm", location.href) }).catch(crashed);
