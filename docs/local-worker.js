/* The search of the site runs in a worker, which browsers do not start for pages opened from a folder.
   There the worker's script runs in a hidden frame instead, with the same messages to and from it. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      const start = `<script>window.postMessage = (data) =>
        parent.dispatchEvent(new MessageEvent("frame-worker", { data }));<\/script>
        <script src="${url}"><\/script>`;
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      this.frame.srcdoc = start;
      window.addEventListener("frame-worker", ({ data }) => {
        this.dispatchEvent(new MessageEvent("message", { data }));
        this.onmessage?.({ data });
      });
      document.body.append(this.frame);
    }

    postMessage(data) {
      const deliver = () => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      this.ready.then(deliver);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
