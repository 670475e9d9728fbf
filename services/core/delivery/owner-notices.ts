import { isOperational } from '../domain/notification-types.ts';
import type { EndpointKey, EndpointState } from '../storage/endpoint/endpoint-row.ts';
import type { OwnerNotice } from '../storage/endpoint/tell-owners.ts';
import { isTest, type MadeAttempt } from './make-attempt.ts';

/**
 * What the owner of an endpoint is to be told after attempts at it, once until the endpoint works again. `died` has the
 * ids of the deliveries that ended as dead. Attempts to tell an owner something tell nothing themselves: there is no
 * alarm about an alarm. Nor is the death of a test told, which was asked for, or of what had no address any more.
 */
export function noticesOf(
  endpoint: EndpointKey,
  { before, after }: { readonly before: EndpointState; readonly after: EndpointState },
  made: readonly MadeAttempt[],
  died: ReadonlySet<string>,
): OwnerNotice[] {
  const { pause, pausedUntil, failingSince, told } = after;
  const ordinary = made.filter(({ delivery }) => !isOperational(delivery.kind));
  const notices: OwnerNotice[] = [];
  const isNewPause = pause === 'BREAKER' && pausedUntil?.getTime() !== before.pausedUntil?.getTime();
  if (isNewPause && ordinary.some(({ verdict }) => verdict === 'FAILING')) {
    notices.push({ ...endpoint, type: 'endpoint.failing', subject: { pause, failingSince, pausedUntil } });
  }
  if (pause === 'GONE' && before.pause !== 'GONE' && ordinary.some(({ verdict }) => verdict === 'GONE')) {
    notices.push({ ...endpoint, type: 'endpoint.disabled', subject: { pause, failingSince } });
  }
  const dead = ordinary.find((each) => died.has(each.record.deliveryId) && !isTest(each.delivery) && each.endpointUrl);
  if (dead) {
    const { requestId, kind, statusInfo } = dead.delivery;
    const delivery = { deliveryId: dead.record.deliveryId, requestId, type: `${kind}.${statusInfo}` };
    notices.push({ ...endpoint, type: 'delivery.dead', subject: { delivery } });
  }
  return notices.filter(({ type }) => !told.includes(type));
}

/** The state once its owner was told. */
export function withTold(state: EndpointState, notices: readonly OwnerNotice[]): EndpointState {
  if (notices.length === 0) return state;
  return { ...state, told: [...state.told, ...notices.map(({ type }) => type)] };
}
