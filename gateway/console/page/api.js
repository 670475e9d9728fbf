/**
 * Everything that the console asks of the service: the operators' routes, under the session's cookie. The only file
 * that knows their addresses and names.
 */

/** A refusal, or that no answer came: the fields of the problem that was answered. */
class Refusal extends Error {
  constructor({ title, detail, ...problem }) {
    super(detail ?? title);
    Object.assign(this, problem, { title, detail });
  }
}

let csrfToken = '';
let endSession = () => {};

/** Names who is told when the session is over. */
export function onSessionEnd(listener) {
  endSession = listener;
}

/** Only that somebody signed in here, so that a browser nobody did is asked for the token at once. */
const MARK = 'holdfast-signed-in';

/** Asks whether this browser is signed in. */
export async function readSession() {
  if (localStorage.getItem(MARK) === null) return undefined;
  try {
    return keep(await call('GET', '/session', { isQuiet: true }));
  } catch (error) {
    if (error.status !== 401) throw error;
    localStorage.removeItem(MARK);
    return undefined;
  }
}

/** Signs in. The token is sent once and kept nowhere; the name is what the audit log says. */
export async function signIn(token, operator) {
  return keep(await call('POST', '/session', { body: defined({ token, operator }), isQuiet: true }));
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

export const readOverview = () => call('GET', '/overview');

/** Results, deliveries and notifications by minute, oldest first. */
export const readMinutes = async (minutes) => (await call('GET', `/overview/series${queryOf({ minutes })}`)).items;

/** What an identifier or a part of one may stand for. In a body, never in an address: it may be sensitive. */
export const search = (asked) => call('POST', '/search', { body: defined(asked) });

export const readOperation = (requestId) => call('GET', pathOf('operations', requestId));

/** Lists, page by page: each takes a filter, and answers `{ items, nextPageToken? }`. */
export const listOperations = list('/operations');
export const listHolds = list('/holds');
export const listDeliveries = list('/deliveries');
export const listEndpoints = list('/endpoints');
export const listFailures = list('/relay/failures');
export const listQuarantine = list('/relay/quarantine');
export const listStored = list('/relay/notifications');
export const listReviews = list('/reviews');
export const listAudit = list('/audit');
export const listMerchants = list('/merchants');

/** After which a stream that was refused is asked for again. */
const REOPEN_MS = 2_000;

/** Follows results as they come; answers how to stop. `onState` hears whether the stream is open. */
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
      readSession().then(
        (session) => session ?? endSession(),
        () => {},
      );
    });
  };
  open();
  return () => {
    clearTimeout(reopening);
    stream.close();
  };
}

/** A key that makes a repetition of one request safe. Also where a browser withholds randomUUID: on plain HTTP. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A hold with its captures, operations and deliveries; these without attempts. */
export const readHold = (requestId) => call('GET', pathOf('holds', requestId));

/** Charges a hold; amount in minor units. */
export const capture = (requestId, amountToCapture, finalCapture, key) =>
  call('POST', pathOf('holds', requestId, 'capture'), { body: { amountToCapture, finalCapture }, key });

/** Adds to a hold; amount in minor units. */
export const increment = (requestId, amountToAdd, key) =>
  call('POST', pathOf('holds', requestId, 'increment'), { body: { amountToAdd }, key });

export const extend = (requestId, key) => call('POST', pathOf('holds', requestId, 'extend'), { body: {}, key });

/** Gives back a capture, which the requestId names; amount in minor units. */
export const refund = (requestId, amount, key) =>
  call('POST', pathOf('captures', requestId, 'refund'), { body: { amount }, key });

export const release = (requestId, key) => call('POST', pathOf('holds', requestId, 'release'), { body: {}, key });

export const readDelivery = (deliveryId) => call('GET', pathOf('deliveries', deliveryId));
export const replayDelivery = (deliveryId) => call('POST', pathOf('deliveries', deliveryId, 'replay'), { body: {} });
export const replayDeliveries = (filter) => call('POST', '/deliveries/replay', { body: defined(filter) });

/** Pauses or resumes an endpoint; `kind` is WEBHOOK or INTERNAL, `act` is pause or resume. */
export const setEndpoint = (merchantId, kind, act) =>
  call('POST', pathOf('endpoints', merchantId, kind.toLowerCase(), act), { body: {} });

/** Decides about a notification that was set aside; `act` is release or discard. */
export const decideQuarantine = (id, act) => call('POST', pathOf('relay', 'quarantine', id, act), { body: {} });

/** Forwards an accepted notification, again if it was forwarded before. */
export const replayStored = (merchantId, requestId) =>
  call('POST', '/relay/notifications/replay', { body: { merchantId, requestId } });

export const resolveReview = (requestId, decision) =>
  call('POST', pathOf('reviews', requestId, 'resolve'), { body: defined(decision) });

export const readMerchant = (merchantId) => call('GET', pathOf('merchants', merchantId));

/** Creates a merchant: `{ merchant, apiKey, signingSecret }`. */
export const createMerchant = (merchant) => call('POST', '/merchants', { body: merchant });
export const updateMerchant = ({ merchantId, ...rest }) => call('PUT', pathOf('merchants', merchantId), { body: rest });

/** Adds an API key; answers the key. */
export const addApiKey = async (merchantId, managesWebhook) =>
  (await call('POST', pathOf('merchants', merchantId, 'api-keys'), { body: { managesWebhook } })).apiKey;
export const revokeApiKey = (merchantId, id) => call('DELETE', pathOf('merchants', merchantId, 'api-keys', id));

/** Adds a signing secret; answers the secret. */
export const addSecret = async (merchantId) =>
  (await call('POST', pathOf('merchants', merchantId, 'signing-secrets'), { body: {} })).signingSecret;
export const retireSecret = (merchantId, id) => call('DELETE', pathOf('merchants', merchantId, 'signing-secrets', id));

/** A question without an answer for so long has none; a command is waited for as long as the gateway takes. */
const ANSWER_MS = 15_000;

/** Calls a route; answers the body. `key` makes a repetition safe. Throws Refusal. */
async function call(method, path, { body, key, isQuiet = false } = {}) {
  const headers = { accept: 'application/json' };
  if (method !== 'GET') headers['x-csrf-token'] = csrfToken;
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (key !== undefined) headers['idempotency-key'] = key;
  const response = await fetch(`/operator${path}`, {
    method,
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(method === 'GET' && { signal: AbortSignal.timeout(ANSWER_MS) }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(unreachable);
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const answer = isJson ? await response.json().catch(unreachable) : undefined;
  if (response.ok) return answer;
  if (response.status === 401 && !isQuiet) endSession();
  const retryAfterSeconds = Number(response.headers.get('retry-after')) || undefined;
  throw new Refusal({
    title: `The gateway answered ${response.status}`,
    ...answer,
    status: response.status,
    retryAfterSeconds,
  });
}

function unreachable(cause) {
  if (cause.name === 'TimeoutError') {
    const detail = `Nothing came for ${ANSWER_MS / 1000} seconds. The service may hang.`;
    throw new Refusal({ title: 'The service does not answer', detail, status: 0, cause });
  }
  const detail = 'Check the connection, then try again.';
  throw new Refusal({ title: 'The gateway cannot be reached', detail, status: 0, cause });
}

function list(path) {
  return (filter) => call('GET', path + queryOf(filter));
}

function pathOf(...parts) {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

function queryOf(filter = {}) {
  const text = new URLSearchParams(Object.entries(defined(filter))).toString();
  return text && `?${text}`;
}

function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}
