import { buildConnector } from 'undici';
import { addressesOf, DestinationRefused, judgeAddress, literalOf, type Network, type Resolve } from './destination.ts';
import { gatewayAt, type Target } from './gateway-address.ts';
import { openResolver } from './resolve.ts';
import { boundAnswers } from './response-limits.ts';

export interface ConnectRules {
  /** Networks that are allowed besides public addresses, and without https. */
  readonly allowed: readonly Network[];
  /** Where the gateway listens; connections to it are refused, in any spelling of its address. */
  readonly gateways?: readonly Target[];
  readonly resolve?: Resolve;
}

/**
 * Makes undici's connections. It resolves the name, checks the address, and connects to the address that it checked, so
 * that a name that resolves differently a moment later changes nothing. Resolving and connecting take at most 2 s each.
 */
export function guardedConnector(rules: ConnectRules): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  const resolve = rules.resolve ?? openResolver();
  return (options, callback) => {
    judged(options, rules, resolve).then(
      ({ address, servername }) =>
        connect({ ...options, hostname: address, ...(servername && { servername }) }, (...connected) => {
          if (connected[1]) boundAnswers(connected[1]);
          callback(...connected);
        }),
      (error: Error) => callback(error, null),
    );
  };
}

async function judged(options: buildConnector.Options, rules: ConnectRules, resolve: Resolve) {
  const secure = options.protocol === 'https:';
  const port = options.port || (secure ? '443' : '80');
  const literal = literalOf(options.hostname);
  const withoutDot = options.hostname.replace(/\.$/, '');
  const [addresses, isGateway] = await Promise.all([
    addressesOf(options.hostname, resolve),
    gatewayAt({ hostname: options.hostname, port }, rules.gateways ?? [], resolve),
  ]);
  let why = 'the name has no address';
  for (const address of addresses) {
    const refusal = isGateway(address)
      ? "the address is the gateway's own"
      : judgeAddress(address, secure, rules.allowed);
    if (refusal === undefined) return { address, servername: literal || !secure ? undefined : withoutDot };
    why = refusal;
  }
  throw new DestinationRefused(why);
}

const CONNECT_TIMEOUT_MS = 2_000;
