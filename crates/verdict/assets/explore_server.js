// Asks the server that the page came from.
async function post(path, body) {
  try {
    const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
    return await response.json();
  } catch {
    return { error: "No answer. Is `ileave explore` still running?" };
  }
}
