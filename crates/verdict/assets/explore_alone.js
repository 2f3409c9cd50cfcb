// Asks the model, which is in the page as WebAssembly (crates/page). Nothing is sent anywhere.
function model() {
  let instance = null;
  self.onmessage = ({ data: { module, question } }) => {
    let answer;
    try {
      instance ??= new WebAssembly.Instance(module).exports;
      const bytes = new TextEncoder().encode(JSON.stringify(question));
      const room = instance.ileave_room(bytes.length);
      new Uint8Array(instance.memory.buffer, room, bytes.length).set(bytes);
      const length = instance.ileave_answer();
      answer = JSON.parse(new TextDecoder().decode(new Uint8Array(instance.memory.buffer, instance.ileave_answered(), length)));
    } catch (error) {
      // What has stopped half-way is not asked again.
      instance = null;
      answer = { error: `The model stopped: ${error.message}. Choose otherwise.` };
    }
    self.postMessage(answer);
  };
}

async function unpacked() {
  const packed = Uint8Array.from(atob($("#module").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

// A thread for each kind of question: sliders are answered while a verdict is measured.
const threads = {};
let compiled = null;

async function post(path, body) {
  try {
    const module = await (compiled ??= unpacked());
    threads[path] ??= new Worker(URL.createObjectURL(new Blob([`(${model})()`], { type: "text/javascript" })));
    return await new Promise((resolve, reject) => {
      threads[path].onmessage = ({ data }) => resolve(data);
      threads[path].onerror = (event) => reject(new Error(event.message));
      threads[path].postMessage({ module, question: { [path]: body } });
    });
  } catch (error) {
    return { error: `This browser cannot run the model: ${error.message}` };
  }
}
