import assert from 'node:assert/strict';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Merchants, Scene } from '../play.ts';

/** The books agree with themselves and with the processors'. */
export async function audited({ stage }: Scene<Deployment, Merchants>): Promise<string> {
  assert.deepEqual(await stage.audit(), [], 'the audit finds nothing');
  return 'the audit finds no drift';
}
