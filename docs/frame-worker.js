// A page that is opened from disk may not start a worker. An invisible frame does the same work for the search.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.worker = this;
      this.waiting = [];
      document.body.append(this.frame);
      const page = this.frame.contentDocument;
      page.open();
      page.write(`<!doctype html><body><script>
        self.postMessage = (data) => frameElement.worker.receive(data);
        self.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
          const script = document.createElement("script");
          script.src = url;
          script.onload = done;
          document.body.append(script);
        })), Promise.resolve());
      </${"script"}><script src="${url}" onload="frameElement.worker.begin()"></${"script"}>`);
      page.close();
    }

    begin() {
      const waiting = this.waiting;
      this.waiting = null;
      waiting.forEach((data) => this.postMessage(data));
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    receive(data) {
      const event = new MessageEvent("message", { data });
      this.onmessage?.(event);
      this.dispatchEvent(event);
    }

    terminate() { this.frame.remove(); }
  };
}
