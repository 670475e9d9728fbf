import { resolveName, within } from '../../delivery/connect.ts';
import { literalOf } from '../../delivery/destination.ts';
import { gatewayAt, isGatewayName, type Target, targetOf } from '../../delivery/gateway-address.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';

/** Limit for resolving the name. */
const RESOLVE_MS = 2_000;

/**
 * Throws INVALID_REQUEST when an internalUrl leads to the gateway itself, as its name resolves now; each attempt checks again. A name
 * that does not resolve yet passes.
 */
export async function refuseGateway(core: Core, internalUrl: string | null | undefined): Promise<void> {
  const gateways = core.settings.GATEWAY_ORIGIN.map(targetOf);
  if (!internalUrl || gateways.length === 0) return;
  const target = targetOf(new URL(internalUrl));
  if (isGatewayName(target, gateways) || (await resolvesToGateway(target, gateways))) {
    throw invalidField('contract.internal_url', 'leads to the gateway itself');
  }
}

async function resolvesToGateway(target: Target, gateways: readonly Target[]): Promise<boolean> {
  const literal = literalOf(target.hostname);
  const [addresses, isGateway] = await Promise.allSettled([
    literal ? [literal] : within(RESOLVE_MS, resolveName(target.hostname)),
    within(RESOLVE_MS, gatewayAt(target, gateways, resolveName)),
  ]);
  if (addresses.status === 'rejected' || isGateway.status === 'rejected') return false;
  return addresses.value.some(isGateway.value);
}
