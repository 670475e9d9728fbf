import assert from 'node:assert/strict';
import { signStandardWebhook } from '../../../client/webhooks/signature.ts';
import { signingSecret } from '../../signing-secret.ts';
import { forEachTest } from '../../suite.ts';
import { notification, openStage, SECRETS } from './stage.ts';

const [SECRET = ''] = SECRETS.acme ?? [];
const { body, signature } = notification();
const WRONG = notification({ amount: '1001' }).signature;

function standard(secret = SECRET, offsetSeconds = 0, of = body) {
  const timestampSeconds = Math.floor(Date.now() / 1_000) + offsetSeconds;
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signStandardWebhook(secret, { id: 'msg_1', timestampSeconds, body: of }),
  };
}

const SENT = {
  both: { body, signature, headers: standard() },
  'the service signature alone': { body, signature },
  'Standard Webhooks alone': { body, headers: standard() },
  'a wrong service signature beside Standard Webhooks': { body, signature: WRONG, headers: standard() },
  'Standard Webhooks of another secret beside the service signature': {
    body,
    signature,
    headers: standard(signingSecret('another')),
  },
  'a stale time beside the service signature': { body, signature, headers: standard(SECRET, -301) },
  'a stale time alone': { body, headers: standard(SECRET, -301) },
  'the headers of another body alone': { body, headers: standard(SECRET, 0, `${body} `) },
  neither: { body },
} as const;

/** Whether each is accepted. */
const ACCEPTED: Readonly<Record<string, readonly (keyof typeof SENT)[]>> = {
  'service-signature': [
    'both',
    'the service signature alone',
    'Standard Webhooks of another secret beside the service signature',
    'a stale time beside the service signature',
  ],
  either: [
    'both',
    'the service signature alone',
    'Standard Webhooks alone',
    'a wrong service signature beside Standard Webhooks',
    'Standard Webhooks of another secret beside the service signature',
    'a stale time beside the service signature',
  ],
  'standard-webhooks': ['both', 'Standard Webhooks alone', 'a wrong service signature beside Standard Webhooks'],
};

describe('relayVerification', () => {
  const stage = forEachTest(openStage);

  for (const [demanded, accepted] of Object.entries(ACCEPTED)) {
    for (const [what, sent] of Object.entries(SENT)) {
      const isAccepted = accepted.includes(what as keyof typeof SENT);
      it(`${demanded} ${isAccepted ? 'accepts' : 'refuses'} ${what}`, async () => {
        stage.demanded.acme = demanded;
        assert.equal((await stage.send(sent)).status, isAccepted ? 200 : 401);
        assert.equal(stage.core.accepted.length, isAccepted ? 1 : 0);
        // What is forwarded has the signature that the merchant's oldest secret makes, whoever made it.
        if (isAccepted) assert.equal(stage.core.accepted[0]?.signature, signature);
      });
    }
  }

  it('is service-signature where core says nothing, as before it knew the term', async () => {
    for (const demanded of ['', 'something newer']) {
      stage.demanded.acme = demanded;
      assert.equal((await stage.send(SENT['Standard Webhooks alone'])).status, 401);
      assert.equal((await stage.send(SENT.both)).status, 200);
    }
  });

  it('gives the same 401, whatever is demanded', async () => {
    const answers = [];
    for (const [index, demanded] of Object.keys(ACCEPTED).entries()) {
      stage.demanded.acme = demanded;
      const { status, headers, body: text } = await stage.send({ ...SENT.neither, from: `192.0.2.${index}` });
      const { date: _, 'x-request-id': __, ...told } = headers;
      answers.push({ status, told, text });
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  });
});
