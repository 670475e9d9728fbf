/** Two cores and a gateway on a primary with its standby. */
import assert from 'node:assert/strict';
import { type DeploymentOptions, openDeployment } from '../../torture/deployment/deployment.ts';
import { type PostgresPair, startPostgresPair } from '../../torture/failover/postgres-pair.ts';

export type Pair = Awaited<ReturnType<typeof openPair>>;

/** Starts everything; the merchants are those of `openDeployment`. */
export async function openPair(severalCaptures: Readonly<Record<string, boolean>>, options: DeploymentOptions = {}) {
  let pair: PostgresPair | undefined;
  const deployment = await openDeployment(severalCaptures, {
    ...options,
    async startDatabase(server) {
      pair = await startPostgresPair(server);
      return pair;
    },
  });
  return { ...deployment, pair: pair ?? assert.fail() };
}
