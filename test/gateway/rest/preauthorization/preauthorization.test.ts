import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { version as uuidVersion } from 'uuid';
import { refusal } from '../../fake-core.ts';
import { useStage } from '../../stage.ts';
import * as examples from '../examples.ts';

const {
  CAPTURE,
  CAPTURE_HOLD,
  CAPTURE_JSON,
  CREATE_HOLD,
  HOLD,
  HOLD_ID,
  HOLD_JSON,
  NOW,
  NOW_TEXT,
  PREAUTHORIZATION_ID,
} = examples;

describe('REST preauthorization', () => {
  const stage = useStage();
  const { core } = stage;

  describe('POST /preauthorization', () => {
    it('returns 201 with the hold when it is placed', async () => {
      core.answers.set('createPreauthorization', () => ({ preauthorization: HOLD, state: 4 }));
      const body = { ...CREATE_HOLD, merchantReference: 'order-1', metadata: { colour: 'blue' }, merchantId: 'acme' };
      const answer = await stage.ask('POST', '/preauthorization', { body, headers: { 'idempotency-key': 'k-1' } });
      assert.equal(answer.status, 201);
      assert.deepEqual(answer.body, HOLD_JSON);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('idempotency-replayed'), null);
      const { operationRequestId, ...request } = core.lastRequest;
      assert.equal(uuidVersion(String(operationRequestId)), 7);
      assert.deepEqual(request, {
        ...body,
        amount: 10_000n,
        saveCard: false,
        idempotencyKey: 'k-1',
      });
    });

    it('returns 201 with only the checkout when there is no token', async () => {
      const checkout = { checkoutUrl: 'https://pay.example/c/1', checkoutExpiresAt: examples.NOW };
      const hold = { ...HOLD, ...checkout, preauthorizationId: '', phase: 1 };
      core.answers.set('createPreauthorization', () => ({ preauthorization: hold, state: 1, replayed: true }));
      const { tokenId: _, ...body } = CREATE_HOLD;
      const more = { saveCard: true, returnUrl: 'http://127.0.0.1:8091/done?x=1' };
      const answer = await stage.ask('POST', '/preauthorization', { body: { ...body, ...more } });
      assert.equal(answer.status, 201);
      assert.deepEqual(answer.body, {
        requestId: HOLD_ID,
        status: 'IN_PROGRESS',
        checkoutUrl: checkout.checkoutUrl,
        checkoutExpiresAt: examples.NOW_TEXT,
      });
      assert.equal(answer.headers.get('idempotency-replayed'), 'true');
      assert.equal('tokenId' in core.lastRequest, false);
    });

    for (const state of [2, 3]) {
      it(`returns 202 without the handle in state ${state}`, async () => {
        core.answers.set('createPreauthorization', () => ({ preauthorization: HOLD, state }));
        const answer = await stage.ask('POST', '/preauthorization', { body: CREATE_HOLD });
        assert.equal(answer.status, 202);
        assert.deepEqual(answer.body, { requestId: HOLD_ID, status: 'IN_PROGRESS' });
      });
    }

    it('returns 402 with the code and message of the processor, replayed or not', async () => {
      const metadata = { requestId: HOLD_ID, processorCode: 'do_not_honor', processorMessage: 'No', replayed: 'true' };
      core.answers.set('createPreauthorization', () => {
        throw refusal(status.FAILED_PRECONDITION, {
          reason: 'CARD_DECLINED',
          message: 'The card was declined.',
          metadata,
        });
      });
      const answer = await stage.ask('POST', '/preauthorization', { body: CREATE_HOLD });
      assert.equal(answer.status, 402);
      assert.equal(answer.headers.get('content-type'), 'application/problem+json');
      assert.equal(answer.headers.get('idempotency-replayed'), 'true');
      assert.deepEqual(answer.body, {
        type: '/docs/refusals#CARD_DECLINED',
        title: 'The card was declined',
        status: 402,
        detail: 'The card was declined.',
        code: 'CARD_DECLINED',
        requestId: HOLD_ID,
        processorCode: 'do_not_honor',
        processorMessage: 'No',
      });
    });
  });

  describe('POST /preauthorization/authorization', () => {
    it('returns 200 with the capture', async () => {
      core.answers.set('capturePreauthorization', () => ({ capture: CAPTURE, replayed: true }));
      const answer = await stage.ask('POST', '/preauthorization/authorization', { body: CAPTURE_HOLD });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, CAPTURE_JSON);
      assert.equal(answer.headers.get('idempotency-replayed'), 'true');
      const request = core.lastRequest;
      assert.equal(request.merchantId, 'acme');
      assert.equal(request.amountToCapture, 4_000n);
      assert.equal(request.finalCapture, false);
    });

    it('returns 202 without date and bank reference while the outcome is unknown', async () => {
      core.answers.set('capturePreauthorization', () => ({ capture: { ...CAPTURE, state: 2 } }));
      const answer = await stage.ask('POST', '/preauthorization/authorization', { body: CAPTURE_HOLD });
      assert.equal(answer.status, 202);
      assert.deepEqual(answer.body, { requestId: CAPTURE.requestId, holdRequestId: HOLD_ID, status: 'IN_PROGRESS' });
    });

    it('returns 404 for a malformed id without calling core', async () => {
      const malformed = ['', 'nope', '\u0000', '\ud800', `pre_${'Z'.repeat(33)}`, 'x'.repeat(65), 'x'.repeat(50_000)];
      for (const preauthorizationId of malformed) {
        const body = { ...CAPTURE_HOLD, preauthorizationId };
        const answer = await stage.ask('POST', '/preauthorization/authorization', { body });
        assert.equal(answer.status, 404);
        assert.equal(answer.body.code, 'PREAUTHORIZATION_NOT_FOUND');
        assert.equal(core.calls.length, 0);
      }
    });
  });

  describe('POST /preauthorization/release', () => {
    const released = {
      ...HOLD,
      status: 4,
      releaseReason: 2,
      amountRemaining: 0n,
      amountReleased: 10_000n,
      closedAt: examples.NOW,
    };

    for (const name of ['preauthorizationId', 'requestId']) {
      it(`returns 404 for a malformed ${name} without calling core`, async () => {
        for (const malformed of ['', 'nope', '\u0000', 'x'.repeat(65), 'x'.repeat(50_000)]) {
          const answer = await stage.ask('POST', '/preauthorization/release', { body: { [name]: malformed } });
          assert.equal(answer.status, 404);
          assert.equal(answer.body.code, 'PREAUTHORIZATION_NOT_FOUND');
          assert.equal(core.calls.length, 0);
        }
      });
    }

    for (const body of [{ preauthorizationId: PREAUTHORIZATION_ID }, { requestId: HOLD_ID }]) {
      it(`returns 200 with the hold, named by ${Object.keys(body)}`, async () => {
        core.answers.set('releasePreauthorization', () => ({
          preauthorization: released,
          requestId: examples.RELEASE_ID,
          state: 4,
        }));
        const answer = await stage.ask('POST', '/preauthorization/release', { body });
        assert.equal(answer.status, 200);
        assert.deepEqual(answer.body, {
          ...HOLD_JSON,
          status: 'RELEASED',
          amountRemaining: 0,
          amountReleased: 10_000,
          releaseReason: 'RELEASED',
          closedAt: examples.NOW_TEXT,
          releaseRequestId: examples.RELEASE_ID,
        });
      });
    }

    it('returns 202 while the outcome is unknown', async () => {
      core.answers.set('releasePreauthorization', () => ({
        preauthorization: HOLD,
        requestId: examples.RELEASE_ID,
        state: 2,
      }));
      const answer = await stage.ask('POST', '/preauthorization/release', { body: { requestId: HOLD_ID } });
      assert.equal(answer.status, 202);
      assert.deepEqual(answer.body, { requestId: examples.RELEASE_ID, holdRequestId: HOLD_ID, status: 'IN_PROGRESS' });
    });
  });

  describe('POST /preauthorization/renew', () => {
    const renew = (body: object) => stage.ask('POST', '/preauthorization/renew', { body });
    const renewed = { ...HOLD, renews: examples.RELEASE_ID };

    for (const body of [{ preauthorizationId: PREAUTHORIZATION_ID }, { requestId: HOLD_ID, amount: 7_000 }]) {
      it(`returns 201 with the new hold, asked for by ${Object.keys(body)}`, async () => {
        core.answers.set('renewPreauthorization', () => ({ preauthorization: renewed, state: 4, replayed: true }));
        const answer = await renew(body);
        assert.equal(answer.status, 201);
        assert.deepEqual(answer.body, { ...HOLD_JSON, renews: examples.RELEASE_ID });
        assert.equal(answer.headers.get('idempotency-replayed'), 'true');
        const { operationRequestId, ...request } = core.lastRequest;
        assert.equal(uuidVersion(String(operationRequestId)), 7);
        const { amount, ...named } = { preauthorizationId: '', requestId: '', amount: undefined, ...body };
        assert.deepEqual(request, {
          ...named,
          merchantId: 'acme',
          ...(amount !== undefined && { amount: BigInt(amount) }),
        });
      });
    }

    it('returns 202 without the handle while the outcome is unknown', async () => {
      core.answers.set('renewPreauthorization', () => ({ preauthorization: renewed, state: 2 }));
      const answer = await renew({ requestId: HOLD_ID });
      assert.equal(answer.status, 202);
      assert.deepEqual(answer.body, { requestId: HOLD_ID, status: 'IN_PROGRESS' });
    });

    it('refuses what names no hold, or two, without calling core', async () => {
      for (const [body, code] of [
        [{ requestId: 'nope' }, 'PREAUTHORIZATION_NOT_FOUND'],
        [{ preauthorizationId: 'nope' }, 'PREAUTHORIZATION_NOT_FOUND'],
        [{}, 'INVALID_REQUEST'],
        [{ preauthorizationId: PREAUTHORIZATION_ID, requestId: HOLD_ID }, 'INVALID_REQUEST'],
        [{ requestId: HOLD_ID, amount: 0 }, 'INVALID_REQUEST'],
      ] as const) {
        assert.equal((await renew(body)).body.code, code);
      }
      assert.equal(core.calls.length, 0);
    });

    for (const [reason, code, httpStatus] of [
      ['HOLD_NOT_PLACED', status.FAILED_PRECONDITION, 409],
      ['NOT_SUPPORTED', status.FAILED_PRECONDITION, 409],
      ['HOLD_CAPTURED', status.FAILED_PRECONDITION, 409],
      ['CAPTURE_IN_FLIGHT', status.ABORTED, 409],
      ['CARD_DECLINED', status.FAILED_PRECONDITION, 402],
    ] as const) {
      it(`returns ${httpStatus} ${reason}`, async () => {
        core.answers.set('renewPreauthorization', () => {
          throw refusal(code, { reason, message: 'No.', metadata: { requestId: HOLD_ID } });
        });
        const answer = await renew({ requestId: HOLD_ID });
        assert.deepEqual([answer.status, answer.body.code], [httpStatus, reason]);
      });
    }
  });

  describe('PATCH /preauthorization/{requestId}', () => {
    it('changes what is named, and takes back what is null', async () => {
      core.answers.set('updatePreauthorization', () => ({ preauthorization: HOLD }));
      const body = { captureAt: NOW_TEXT, description: null, metadata: { a: '1' } };
      const answer = await stage.ask('PATCH', `/preauthorization/${HOLD_ID}`, { body });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, HOLD_JSON);
      const sent = core.lastRequest as Record<string, unknown>;
      assert.deepEqual((sent.updateMask as { paths: string[] }).paths, ['capture_at', 'description', 'metadata']);
      assert.deepEqual(
        [sent.captureAt, sent.description, sent.metadata, sent.merchantId],
        [NOW, undefined, { a: '1' }, 'acme'],
      );
    });

    it('leaves its times and the names of fields in the log, which a restore of the database does not take', async () => {
      core.answers.set('updatePreauthorization', () => ({ preauthorization: HOLD }));
      const body = { captureAt: null, releaseAt: NOW_TEXT, description: 'room 4' };
      await stage.ask('PATCH', `/preauthorization/${HOLD_ID}`, { body });
      const changed = `captureAt=none releaseAt=${NOW_TEXT} description`;
      await stage.logged(({ fields }) => fields.changed === changed && fields.requestId === HOLD_ID);
    });

    for (const body of [{}, { merchantId: 'acme' }, { captureAt: 'soon' }, { amount: 5 }, { description: '' }]) {
      it(`refuses ${JSON.stringify(body)}`, async () => {
        const answer = await stage.ask('PATCH', `/preauthorization/${HOLD_ID}`, { body });
        assert.deepEqual([answer.status, answer.body.code], [400, 'INVALID_REQUEST']);
      });
    }
  });

  describe('GET /preauthorization/{requestId}', () => {
    it('returns the hold with its captures', async () => {
      core.answers.set('getPreauthorization', () => ({ preauthorization: { ...HOLD, captures: [CAPTURE] } }));
      const answer = await stage.ask('GET', `/preauthorization/${HOLD_ID}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, { ...HOLD_JSON, captures: [CAPTURE_JSON] });
      assert.equal(core.lastRequest.merchantId, 'acme');
    });

    it('returns why a hold was never placed', async () => {
      const failed = {
        ...HOLD,
        preauthorizationId: '',
        status: 6,
        processorError: { code: 'expired_card', message: 'Expired' },
      };
      core.answers.set('getPreauthorization', () => ({ preauthorization: failed }));
      const { body } = await stage.ask('GET', `/preauthorization/${HOLD_ID}`);
      assert.equal(body.status, 'FAILED');
      assert.equal(body.processorCode, 'expired_card');
      assert.equal(body.processorMessage, 'Expired');
      assert.equal('preauthorizationId' in body, false);
    });

    for (const path of ['nope', '0199a1b2', '%00', '%ff', `${HOLD_ID}x`, 'release']) {
      it(`returns 404 for ${path} without calling core`, async () => {
        const answer = await stage.ask('GET', `/preauthorization/${path}`);
        assert.equal(answer.status, 404);
        assert.equal(answer.body.code, 'PREAUTHORIZATION_NOT_FOUND');
        assert.equal(core.calls.length, 0);
      });
    }
  });

  describe('GET /preauthorization', () => {
    it('returns a page, without handles, and passes the filters on', async () => {
      core.answers.set('listPreauthorizations', () => ({ preauthorizations: [HOLD], nextPageToken: 'next' }));
      const query =
        'status=CAPTURED&userId=u-1&terminalId=T1&createdFrom=2026-11-01T00:00:00Z' +
        '&createdTo=2026-11-02T00:00:00.5%2B01:00&expiringBefore=2026-12-01T00:00:00Z&pageSize=200&pageToken=abc';
      const answer = await stage.ask('GET', `/preauthorization?${query}`);
      assert.equal(answer.status, 200);
      const { preauthorizationId: _, ...item } = HOLD_JSON;
      assert.deepEqual(answer.body, { items: [item], nextPageToken: 'next' });
      const request = core.lastRequest;
      assert.equal(request.status, 3);
      assert.equal(request.merchantId, 'acme');
      assert.equal(request.pageSize, 200);
      assert.equal((request.createdTo as { seconds: bigint }).seconds, 1793574000n);
    });

    it('omits nextPageToken on the last page', async () => {
      core.answers.set('listPreauthorizations', () => ({}));
      assert.deepEqual((await stage.ask('GET', '/preauthorization')).body, { items: [] });
    });
  });
});
