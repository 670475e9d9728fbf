import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { forSuite } from '../../../suite.ts';
import { pay } from '../checkout/browse.ts';
import { checkoutRequest, START_MS, startFixture } from '../fixture.ts';

describe('createCheckout()', () => {
  const fixture = forSuite(startFixture);

  it('returns the same page again, after a restart and after its end too', async () => {
    const wanted = checkoutRequest();
    const first = await fixture.client.createCheckout(wanted);
    const oldPort = fixture.sandbox.checkoutPort;
    await fixture.restart();
    const again = await fixture.client.createCheckout(wanted);
    const moved = again.checkoutUrl.replace(`:${fixture.sandbox.checkoutPort}/`, `:${oldPort}/`);
    assert.equal(moved, first.checkoutUrl);
    assert.equal((await pay(again.checkoutUrl)).status, 303);
    assert.deepEqual(await fixture.client.createCheckout(wanted), again);
  });

  it("leads back with core's name of the hold, the first that was said", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const wanted = checkoutRequest({ returnUrl: 'https://shop.example/back', operationRequestId: first });
    const { checkoutUrl } = await fixture.client.createCheckout(wanted);
    await fixture.client.createCheckout({ ...wanted, operationRequestId: second });
    const { headers } = await pay(checkoutUrl);
    assert.equal(headers.get('location'), `https://shop.example/back?requestId=${first}`);
  });

  it('returns another address when the credential it derives from was changed', async () => {
    const wanted = checkoutRequest();
    await fixture.client.createCheckout(wanted);
    await fixture.restart('another-credential-that-core-now-shows');
    const { checkoutUrl } = await fixture.client.createCheckout(wanted);
    assert.equal((await pay(checkoutUrl)).status, 303);
    await fixture.restart();
  });

  it('keeps no page open for more than 30 minutes', async () => {
    const expiresAt = timestampFromMs(START_MS + 3_600_000);
    const answer = await fixture.client.createCheckout(checkoutRequest({ expiresAt }));
    assert.ok(answer.expiresAt);
    assert.equal(timestampMs(answer.expiresAt), START_MS + 1_800_000);
  });

  it('returns the same page when only the reference differs, as for a page from before references', async () => {
    const wanted = checkoutRequest();
    const first = await fixture.client.createCheckout(wanted);
    assert.deepEqual(await fixture.client.createCheckout({ ...wanted, merchantReference: 'order-7' }), first);
  });

  it('rejects other fields under a used identifier', async () => {
    const wanted = checkoutRequest();
    await fixture.client.createCheckout(wanted);
    for (const other of [{ amount: 1n }, { saveCard: true }, { returnUrl: 'https://shop.example/' }]) {
      const code = status.ALREADY_EXISTS;
      await assert.rejects(fixture.client.createCheckout({ ...wanted, ...other }), { code });
    }
  });

  it('rejects return URLs that are not https, or http on this machine, and unknown currencies', async () => {
    const bad = [
      'http://shop.example/',
      'javascript:alert(1)',
      'ftp://127.0.0.1/',
      '/back',
      'https://a:b@shop.example/',
    ];
    const terms = [...bad.map((returnUrl) => ({ returnUrl })), { currency: 'XQQ' }];
    for (const term of terms) {
      await assert.rejects(fixture.client.createCheckout(checkoutRequest(term)), { code: status.INVALID_ARGUMENT });
    }
    for (const returnUrl of ['http://localhost:8091/back', 'http://[::1]/', 'https://shop.example/']) {
      await fixture.client.createCheckout(checkoutRequest({ returnUrl }));
    }
  });
});
