/** A relay with one core and its worker, which forwards to a receiver that fails. */
import assert from 'node:assert/strict';
import { type Merchant, openDeployment } from '../../torture/deployment/deployment.ts';
import { openFaultyReceiver } from './faulty-receiver.ts';

export type Relay = Awaited<ReturnType<typeof openRelay>>;

/** Starts everything; the receiver fails at most so many attempts of a delivery. */
export async function openRelay(mostFailures: number, random: () => number) {
  const receiver = await openFaultyReceiver(0.2, mostFailures, random);
  const options = { cores: 1, internalUrl: receiver.url, environment: NO_LIMITS };
  const deployment = await openDeployment({ acme: true }, options);
  return {
    ...deployment,
    receiver,
    merchant: (deployment.merchants.get('acme') ?? assert.fail()) satisfies Merchant,
    /** A living worker takes over from a dead one after 15 s; nobody waits that long here. */
    async sixteenSecondsLater(): Promise<void> {
      await deployment.sql('update delivery set locked_until = now() where locked_until is not null');
    },
    async close(): Promise<void> {
      await deployment.close();
      await receiver.close();
    },
  };
}

/** The limits are not under test. */
const NO_LIMITS = { RELAY_VERIFIED_PER_SECOND: '100000', RELAY_ADDRESS_PER_SECOND: '100000' };
