import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { createDocument, EXAMPLES } from '../../../gateway/openapi/document.ts';
import {
  type Example,
  ID,
  KEPT_UNTIL,
  NEW_MERCHANT_ID,
  WEBHOOK_URL,
} from '../../../gateway/openapi/examples/example.ts';
import { NOTIFICATIONS } from '../../../gateway/openapi/webhooks.ts';
import type { Answer } from '../../../services/quickstart/shop.ts';
import { runningMs } from '../../running-ms.ts';
import { type Stack, useStack } from '../../stack.ts';
import { parseEvents } from '../event-stream/event-stream.ts';
import { Stage } from '../stage.ts';
import { agree, type Names, translate } from './agree.ts';
import { PREPARATIONS } from './preparations.ts';
import { Recording } from './record.ts';
import { isStaged, Replay, routeOf, sendStaged } from './replay.ts';

/**
 * What follows from a result, such as its delivery, arrives a little later: answers to a GET may differ for that long.
 */
const LATER_MS = 60_000;

describe('the examples in the OpenAPI document', () => {
  const stage = new Stage();
  let stack: Stack;
  let replay: Replay;
  const names: Names = new Map();
  /** A lost answer takes as long as the processor's timeout, so those examples start first. */
  const early = new Map<Example, Promise<Answer>>();
  const told = new Map<string, Answer>();
  const recording = process.env.RECORD === undefined ? undefined : new Recording(names);

  before(async () => {
    await stage.open();
    stack = await useStack();
    names
      .set(WEBHOOK_URL, stack.file.baseUrl)
      .set('acme', stack.file.merchantId)
      .set('the-operator-token', stack.file.operatorToken)
      .set(KEPT_UNTIL, new Date(Date.now() + 30 * 24 * 3_600_000).toISOString());
    replay = new Replay(stack, names);
    for (const example of EXAMPLES.filter(isEarly)) {
      const answer = replay.send(example);
      early.set(example, answer);
      if (example.status !== 202) check(example, await answer, names);
    }
  });

  after(async () => {
    await Promise.allSettled(early.values());
    await stage.close();
    await recording?.write();
  });

  for (const example of EXAMPLES) {
    it(`${example.route}, ${example.name}: the request gets the answer of the example`, async () => {
      if (isStaged(example)) return check(example, await sendStaged(example, stage), new Map());
      await PREPARATIONS[example.route]?.({ stack, names, told: (route) => told.get(route) as Answer });
      const answer = await (early.get(example) ?? untilAgreed(example));
      check(example, answer, names);
      told.set(example.route, answer);
    });
  }

  /** Compares the answer with the recorded one, or records it. */
  function check(example: Example, answer: Answer, names: Names): void {
    const isRecorded = answer.body !== '' && typeof example.answer !== 'string' && !isStaged(example);
    if (recording === undefined) compare(example, answer, names);
    else if (isRecorded) recording.add(example, shownOf(example, answer.body));
    else recording.keep(example);
  }

  async function untilAgreed(example: Example): Promise<Answer> {
    const endMs = runningMs() + LATER_MS;
    for (;;) {
      const answer = await replay.send(example);
      if (routeOf(example).method !== 'get' || runningMs() > endMs) return answer;
      try {
        compare(example, answer, new Map(names));
        return answer;
      } catch (error) {
        if (!(error instanceof assert.AssertionError)) throw error;
        await delay(100);
      }
    }
  }

  it('are complete', function () {
    if (recording !== undefined) this.skip();
    const inDocument = Object.values(createDocument().paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, responses }) =>
        Object.values(responses as Record<string, { content?: Record<string, { examples?: object }> }>)
          .flatMap(({ content = {} }) => Object.entries(content))
          .filter(([mediaType]) => mediaType !== 'application/problem+json')
          .flatMap(([, { examples = {} }]) => Object.keys(examples))
          .map((name) => `${operationId} ${name}`),
      ),
    );
    const withBody = EXAMPLES.filter(({ answer }) => answer !== undefined);
    assert.deepEqual(inDocument.sort(), withBody.map(({ route, name }) => `${route} ${name}`).sort());
  });

  it('have one subject each', () => {
    const keys = EXAMPLES.map(({ route, name }) => `${route} ${name}`);
    assert.equal(new Set(keys).size, keys.length);
  });

  // operational-notifications.test.ts has those about endpoints and secrets.
  const aboutOperations = Object.entries(NOTIFICATIONS).filter(([, { kind }]) => kind === 'payment' || kind === 'oct');
  for (const [name, { schema, words, example }] of aboutOperations) {
    it(`the ${name} arrives as documented`, async function () {
      if (recording !== undefined) this.skip();
      const { body, bodyText } = await stack.shop.notified(
        translate(example.requestId, names),
        words.find((word) => word === 'captured' || word === 'paid'),
      );
      assert.deepEqual(schema.parse(body), JSON.parse(bodyText));
      agree(example, body, names);
    });
  }
});

/** Examples with lost answers, and the holds they are about. The relay's 202 is not one: it reports what is stored. */
function isEarly(example: Example): boolean {
  if (example.route === 'relayNotification' || example.route === 'relaySenderNotification') return false;
  const body = JSON.stringify(example.body ?? '');
  const isOfLost = /_timeout_/.test(body) || body.includes(ID.refundsHandle);
  return !isStaged(example) && (example.status === 202 || isOfLost);
}

/** Asserts that an answer matches its example and its route's schema; records identifiers that it sees first. */
function compare(example: Example, { status, body, headers }: Answer, names: Names): void {
  assert.equal(status, example.status, JSON.stringify(body));
  const described = routeOf(example).answers[status];
  assert(described);
  if (described.schema === undefined) {
    assert.equal(body, '');
  } else if (example.parameters?.Accept !== undefined) {
    assert.equal(headers.get('content-type'), `${described.orText?.mediaType}; charset=utf-8; header=present`);
    const [shown, told] = [String(example.answer), String(body)].map((text) => text.split('\r\n'));
    assert.deepEqual([told?.[0], told?.length], [shown?.[0], shown?.length]);
  } else if (typeof example.answer === 'string') {
    compareStream(example.answer, body, names);
  } else {
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(described.schema.parse(body), body, 'the answer has a field that the document does not describe');
    agree(example.answer, shownOf(example, body), names);
  }
}

function compareStream(text: string, [beginning, event]: ReturnType<typeof parseEvents>, names: Names): void {
  const [exampleBeginning, exampleEvent] = parseEvents(text);
  assert.deepEqual(beginning, exampleBeginning);
  assert.equal(event?.event, exampleEvent?.event);
  assert.match(event?.id ?? '', /^[\x21-\x7E]{1,64}$/);
  agree(JSON.parse(exampleEvent?.data ?? ''), JSON.parse(event?.data ?? ''), names);
}

/** What an example shows of an answer. Other tests use other merchants, and no filter separates them. */
function shownOf({ route }: Example, body: { items: { merchantId: string }[] }): object {
  return route === 'listMerchants'
    ? { items: body.items.filter(({ merchantId }) => merchantId === NEW_MERCHANT_ID) }
    : body;
}
