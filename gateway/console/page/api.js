/**
 * Everything that the console asks of the service: the operators' routes, under the session's cookie. The only file that
 * knows their addresses and names.
 */

/** A refusal, or that no answer came: the fields of the problem that was answered. */
export class Refusal extends Error {
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

/** Signs out. */
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

/** Counts of what may need somebody. */
export const readOverview = () => call('GET', '/overview');

/** Results, deliveries and notifications by minute, oldest first. */
export const readMinutes = async (minutes) => (await call('GET', `/overview/series${queryOf({ minutes })}`)).items;

/** What an identifier or a part of one may stand for. In a body, never in an address: it may be sensitive. */
export const search = (asked) => call('POST', '/search', { body: defined(asked) });

/** An operation, final or not. */
export const readOperation = (requestId) => call('GET', `/operations/${encodeURIComponent(requestId)}`);

/** Final results, newest first. */
export const listOperations = (filter) => call('GET', `/operations${queryOf(filter)}`);

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

/** Holds, newest first. */
export const listHolds = (filter) => call('GET', `/holds${queryOf(filter)}`);

/** A hold with its captures, operations and deliveries; these without attempts. */
export const readHold = (requestId) => call('GET', `/holds/${encodeURIComponent(requestId)}`);

/** Charges a hold; amount in minor units. */
export const capture = (requestId, amountToCapture, finalCapture, key) =>
  call('POST', `/holds/${encodeURIComponent(requestId)}/capture`, { body: { amountToCapture, finalCapture }, key });

/** Gives back what remains of a hold. */
export const release = (requestId, key) =>
  call('POST', `/holds/${encodeURIComponent(requestId)}/release`, { body: {}, key });

/** Deliveries, newest first. */
export const listDeliveries = (filter) => call('GET', `/deliveries${queryOf(filter)}`);

/** A delivery with its attempts. */
export const readDelivery = (deliveryId) => call('GET', `/deliveries/${encodeURIComponent(deliveryId)}`);

/** Sends a delivery again. */
export const replayDelivery = (deliveryId) =>
  call('POST', `/deliveries/${encodeURIComponent(deliveryId)}/replay`, { body: {} });

/** Sends again all that have ended and match. */
export const replayDeliveries = (filter) => call('POST', '/deliveries/replay', { body: defined(filter) });

/** Endpoints that fail or are paused. */
export const listEndpoints = (filter) => call('GET', `/endpoints${queryOf(filter)}`);

/** Pauses or resumes an endpoint; `kind` is WEBHOOK or INTERNAL, `act` is pause or resume. */
export const setEndpoint = (merchantId, kind, act) =>
  call('POST', `/endpoints/${encodeURIComponent(merchantId)}/${kind.toLowerCase()}/${act}`, { body: {} });

/** What the relay could not verify, newest first. */
export const listFailures = (filter) => call('GET', `/relay/failures${queryOf(filter)}`);

/** Notifications that were set aside, newest first. */
export const listQuarantine = (filter) => call('GET', `/relay/quarantine${queryOf(filter)}`);

/** Decides about a notification that was set aside; `act` is release or discard. */
export const decideQuarantine = (id, act) =>
  call('POST', `/relay/quarantine/${encodeURIComponent(id)}/${act}`, { body: {} });

/** Notifications that the relay has accepted, newest first. */
export const listStored = (filter) => call('GET', `/relay/notifications${queryOf(filter)}`);

/** Forwards an accepted notification, again if it was forwarded before. */
export const replayStored = (merchantId, requestId) =>
  call('POST', '/relay/notifications/replay', { body: { merchantId, requestId } });

/** What waits for an operator, oldest first. */
export const listReviews = (filter) => call('GET', `/reviews${queryOf(filter)}`);

/** Says how an attempt ended. */
export const resolveReview = (requestId, decision) =>
  call('POST', `/reviews/${encodeURIComponent(requestId)}/resolve`, { body: defined(decision) });

/** What operators did, newest first. */
export const listAudit = (filter) => call('GET', `/audit${queryOf(filter)}`);

/** Merchants by name. */
export const listMerchants = (filter) => call('GET', `/merchants${queryOf(filter)}`);

/** A merchant with its contract, and what may be shown of its credentials. */
export const readMerchant = (merchantId) => call('GET', merchantPath(merchantId));

/** Creates a merchant: `{ merchant, apiKey, signingSecret }`. */
export const createMerchant = (merchant) => call('POST', '/merchants', { body: merchant });

/** Replaces name and contract. */
export const updateMerchant = ({ merchantId, ...rest }) => call('PUT', merchantPath(merchantId), { body: rest });

/** Adds an API key; answers the key. */
export const addApiKey = async (merchantId, managesWebhook) =>
  (await call('POST', `${merchantPath(merchantId)}/api-keys`, { body: { managesWebhook } })).apiKey;

/** Ends an API key. */
export const revokeApiKey = (merchantId, id) =>
  call('DELETE', `${merchantPath(merchantId)}/api-keys/${encodeURIComponent(id)}`);

/** Adds a signing secret; answers the secret. */
export const addSecret = async (merchantId) =>
  (await call('POST', `${merchantPath(merchantId)}/signing-secrets`, { body: {} })).signingSecret;

/** Ends a signing secret. */
export const retireSecret = (merchantId, id) =>
  call('DELETE', `${merchantPath(merchantId)}/signing-secrets/${encodeURIComponent(id)}`);

const merchantPath = (merchantId) => `/merchants/${encodeURIComponent(merchantId)}`;

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

function queryOf(filter = {}) {
  const text = new URLSearchParams(Object.entries(defined(filter))).toString();
  return text && `?${text}`;
}

function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}
