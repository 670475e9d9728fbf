/** Why a call has no answer, and whether it was sent at all. */
import { HoldfastError } from './refusal.ts';

/** What to do about it, by the code of the system, of TLS or of the runtime. */
const NOT_SENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: check baseUrl, the network, or repeat the call',
  ConnectionRefused: 'nothing listens there: check baseUrl, the network, or repeat the call',
  ENOTFOUND: 'its name is not known: check baseUrl',
  EAI_AGAIN: 'its name could not be looked up: check baseUrl, the network, or repeat the call',
  UND_ERR_CONNECT_TIMEOUT: 'it does not take connections: check baseUrl, the network, or repeat the call',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: "its certificate is not valid yet: check this machine's clock",
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is its own: trust it, as with NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority: trust that, as with NODE_EXTRA_CA_CERTS',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is of an unknown authority: trust that, as with NODE_EXTRA_CA_CERTS',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is of an unknown authority: trust that, as with NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is of an unknown authority: trust that, as with NODE_EXTRA_CA_CERTS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate has another name: check baseUrl',
};

const NO_TLS = 'the port does not speak TLS: is baseUrl to begin with http:?';
/** These may also end a connection on which the call was sent. */
const PERHAPS_SENT: Readonly<Record<string, string>> = { ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS, EPROTO: NO_TLS };

/** Of Deno, which has no codes: it could not connect. */
const NOT_CONNECTED = /client error \(Connect\): (.*)/s;

/** The failure of a call to `baseUrl`, and whether it cannot have been sent: no connection was opened. */
export function noAnswer(
  baseUrl: string,
  failure: unknown,
): { readonly error: HoldfastError; readonly isSent: boolean } {
  const { code, message, cause } = failure as Failure;
  const why = String(cause?.code ?? code ?? cause?.message ?? message);
  const refused = NOT_CONNECTED.exec(why)?.[1];
  const hint = NOT_SENT[why] ?? PERHAPS_SENT[why] ?? 'check baseUrl, the network, or repeat the call';
  const text = `no answer from ${baseUrl} (${refused ?? why}): ${hint}`;
  return {
    error: new HoldfastError('NO_ANSWER', text, 0, {}, failure),
    isSent: refused === undefined && !Object.hasOwn(NOT_SENT, why),
  };
}

interface Failure {
  readonly code?: unknown;
  readonly message?: string;
  readonly cause?: { readonly code?: unknown; readonly message?: string };
}
