/** How the console calls the operators' routes, under the session's cookie. */

let csrfToken = '';
let endSession = () => {};

/** Sets what is called whenever the service answers that nobody is signed in. */
export function onSessionEnd(listener) {
  endSession = listener;
}

/** Only that somebody signed in here, so that a browser nobody did is asked for the token at once. */
const MARK = 'holdfast-signed-in';

/** Asks whether this browser is signed in. */
export async function readSession() {
  if (localStorage.getItem(MARK) === null) return undefined;
  try {
    return keep(await call('GET', '/session'));
  } catch (error) {
    if (error.status !== 401) throw error;
    localStorage.removeItem(MARK);
    return undefined;
  }
}

/** Signs in. The token is sent once and kept nowhere; the name is what the audit log says. */
export async function signIn(token, operator) {
  keep(await call('POST', '/session', { body: { token, operator } }));
}

export async function signOut() {
  await call('DELETE', '/session');
  csrfToken = '';
  localStorage.removeItem(MARK);
}

function keep(session) {
  localStorage.setItem(MARK, 'yes');
  ({ csrfToken } = session);
  return session;
}

/** A path with identifiers in it: pathOf`/holds/${requestId}/capture`. */
export const pathOf = (texts, ...ids) => String.raw({ raw: texts }, ...ids.map(encodeURIComponent));

export function get(path, filter = {}) {
  const query = new URLSearchParams(defined(filter)).toString();
  return call('GET', query ? `${path}?${query}` : path);
}

/** Sends a command. `key` makes a repetition safe. */
export const post = (path, body = {}, key) => call('POST', path, { body, key });
export const put = (path, body) => call('PUT', path, { body });
export const remove = (path) => call('DELETE', path);

/** A key that makes a repetition of one request safe. Also where a browser withholds randomUUID: on plain HTTP. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** After which a stream that was refused is asked for again. */
const REOPEN_MS = 2_000;

/** Follows results as they come; returns what stops it. Calls `onState` with whether the stream is open. */
export function followOperations(onOperation, onState) {
  let stream;
  let reopening;
  const open = () => {
    stream = new EventSource('/operator/operations/stream');
    stream.addEventListener('open', () => onState(true));
    stream.addEventListener('operation', ({ data }) => onOperation(JSON.parse(data)));
    stream.addEventListener('error', () => {
      onState(false);
      // The browser connects again by itself, unless it was refused: then the session may be over, or the service away.
      if (stream.readyState !== EventSource.CLOSED) return;
      reopening = setTimeout(open, REOPEN_MS);
      get('/session').then(keep, () => {});
    });
  };
  open();
  return () => {
    clearTimeout(reopening);
    stream.close();
  };
}

/** Reads fail after this long without an answer; a command waits for as long as the gateway takes. */
const ANSWER_MS = 15_000;

/**
 * Calls a route; fields without a value are not sent. Answers the body, or throws an error with the fields of the
 * problem that was answered, and `status`, 0 when no answer came. A change that is forbidden is sent once more when the
 * session is another one: somebody has signed in in another tab, which this one shares the cookie with.
 */
async function call(method, path, options) {
  const token = csrfToken;
  try {
    return await callOnce(method, path, options);
  } catch (error) {
    if (error.status !== 403 || method === 'GET') throw error;
    keep(await callOnce('GET', '/session'));
    if (csrfToken === token) throw error;
    return callOnce(method, path, options);
  }
}

async function callOnce(method, path, { body, key } = {}) {
  const headers = { accept: 'application/json' };
  if (method !== 'GET') headers['x-csrf-token'] = csrfToken;
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (key !== undefined) headers['idempotency-key'] = key;
  const response = await fetch(`/operator${path}`, {
    method,
    headers,
    cache: 'no-store',
    signal: method === 'GET' ? AbortSignal.timeout(ANSWER_MS) : undefined,
    body: body && JSON.stringify(defined(body)),
  }).catch(unreachable);
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const answer = isJson ? await response.json().catch(unreachable) : undefined;
  if (response.ok) return answer;
  const { status } = response;
  if (status === 401) endSession();
  const retryAfterSeconds = Number(response.headers.get('retry-after')) || undefined;
  throw refusal({ title: `The gateway answered ${status}`, ...answer, status, retryAfterSeconds });
}

function unreachable(cause) {
  if (cause.name === 'TimeoutError') {
    const detail = `Nothing came for ${ANSWER_MS / 1000} seconds. The service may hang.`;
    throw refusal({ title: 'The service does not answer', detail, status: 0, cause });
  }
  const detail = 'Check the connection, then try again.';
  throw refusal({ title: 'The gateway cannot be reached', detail, status: 0, cause });
}

function refusal(problem) {
  return Object.assign(new Error(problem.detail ?? problem.title), problem);
}

function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}
