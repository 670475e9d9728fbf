import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { demandSignature } from '../../../../gateway/rest/signed-operations/demand-signature.ts';
import { CAPTURE_KEY, PATH, signedHeaders } from './signer.ts';

const OTHER_KEY = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string;

describe('demandSignature()', () => {
  const BODY = '{"amountToCapture":4000}';

  /** Demands a signature while the gateway knows one key, and core another; returns how many nonces were used. */
  async function demand(known: string | undefined, newest: string | undefined): Promise<number> {
    const headers: Record<string, string> = signedHeaders({ body: BODY });
    let key = known;
    let nonces = 0;
    const call = {
      merchantId: 'acme',
      ctx: { method: 'POST', path: PATH, req: { headers }, get: (name: string) => headers[name] ?? '' },
      credentials: {
        signingKeyOf: () => key,
        refresh: async () => {
          key = newest;
        },
      },
      core: { merchants: { useNonce: async () => ({ fresh: ++nonces === 1 }) } },
    };
    await demandSignature('CAPTURE')(call as never, Buffer.from(BODY));
    return nonces;
  }

  it('fetches the newest key before it refuses', async () => {
    assert.equal(await demand(OTHER_KEY, CAPTURE_KEY), 1);
    await assert.rejects(demand(OTHER_KEY, OTHER_KEY), /SIGNATURE_REQUIRED/);
  });

  it('accepts a signature by a key that is known without fetching another', async () => {
    assert.equal(await demand(CAPTURE_KEY, OTHER_KEY), 1);
  });

  it('demands none when the contract does not ask for signatures any more', async () => {
    assert.equal(await demand(OTHER_KEY, undefined), 0);
  });
});
