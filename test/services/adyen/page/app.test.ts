import assert from 'node:assert/strict';
import { Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { answerIssuer, BROWSER, goOn, open } from '../fake/customer.ts';
import { asked, said, startStepUps, stepUps } from '../step-up-fixture.ts';

describe('the pages for customers of Adyen', () => {
  const fixture = forSuite(startStepUps);
  const { at, paymentsOf, waiting, toIssuer, inquire } = stepUps(fixture);

  it('say who asks for how much, what happens next, and run no script but their own', async () => {
    const { page: address } = await waiting({ ...asked(), merchantReference: '<b>7</b>' } as ReturnType<typeof asked>);
    const { status, page, headers } = await open(address);
    assert.equal(status, 200);
    for (const text of ['€100.00', 'acme', 'shop.example', '&#60;b&#62;7', 'Nothing is charged now']) {
      assert(page.includes(text), text);
    }
    assert.doesNotMatch(page, /<script(?! src="\/step-up\/page.js")| on\w+=| style=/);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|http:/);
    assert.deepEqual(
      ['cache-control', 'referrer-policy', 'x-frame-options'].map((name) => headers.get(name)),
      ['no-store', 'no-referrer', 'DENY'],
    );
    for (const asset of ['page.js', 'page.css']) {
      assert.equal((await open(new URL(`/step-up/${asset}`, address).href)).status, 200);
    }
  });

  it('are found by their capability alone, which no line of the log has', async () => {
    const [hold, other] = [asked(), asked()];
    const { page } = await waiting(hold);
    const { page: otherPage } = await waiting(other);
    const capability = page.split('/').at(-1) ?? '';
    const wrong = [
      page.slice(0, -1),
      `${page}A`,
      page.replace(capability, otherPage.split('/').at(-1) ?? ''),
      page.replace(hold.requestId, asked().requestId),
      page.replace(hold.requestId, 'x'),
    ];
    for (const address of wrong) {
      assert.deepEqual([(await open(address)).status, (await goOn(address)).status], [404, 404]);
      assert.equal((await open(`${address}/return?redirectResult=x`)).status, 404);
    }
    assert.deepEqual(paymentsOf(hold), []);
    await open(page);
    assert.deepEqual(
      fixture.logged.filter((line) => line.includes(capability)),
      [],
    );
    const plain = await fixture.placed();
    assert.equal((await open(page.replace(hold.requestId, plain.requestId))).status, 404);
  });

  it('posted twice, at once or later, make one payment and lead to the same place', async () => {
    const hold = asked();
    const { page } = await waiting(hold);
    const places = await Promise.all([toIssuer(page), toIssuer(page), toIssuer(page)]);
    assert.match((await open(page)).page, /Continue to your bank/);
    places.push(at((await goOn(page, {})).location ?? ''), await toIssuer(page));
    assert.equal(new Set(places).size, 1);
    assert.equal(new Set(paymentsOf(hold).map(({ key }) => key)).size, 1);
    const languages = new Set(paymentsOf(hold).map(({ body }) => JSON.stringify(body)));
    assert.equal(languages.size, 1, 'the first form counts');
  });

  it('demand what Adyen demands of a browser, and send nothing without it', async () => {
    const hold = asked();
    const { page } = await waiting(hold);
    const broken: Record<string, string>[] = [
      {},
      ...Object.keys(BROWSER).map((name) => ({ ...BROWSER, [name]: '' })),
      { ...BROWSER, screenWidth: '-1' },
      { ...BROWSER, language: '<script>' },
      { ...BROWSER, timeZoneOffset: '99999' },
    ];
    for (const fields of broken) {
      const { status, page: text } = await goOn(page, fields);
      assert.deepEqual([status, text.includes('Turn JavaScript on')], [422, true]);
    }
    const text = await fetch(page, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    assert.equal(text.status, 415);
    assert.equal((await goOn(page, { ...BROWSER, more: 'x'.repeat(10_000) })).status, 413);
    assert.deepEqual(paymentsOf(hold), []);
    assert.equal((await inquire(hold)).finding, Finding.AT_WORK);
    const { browserInfo } = await goOn(page, { ...BROWSER, colorDepth: '36' }).then(
      () => paymentsOf(hold)[0]?.body ?? { browserInfo: undefined },
    );
    assert.equal(browserInfo?.colorDepth, 32, 'Adyen takes certain depths only');
  });

  it('post what Adyen wants to have posted', async () => {
    const { page } = await waiting(asked('stored_challenge_post'));
    const { status, page: form } = await goOn(page);
    assert.equal(status, 200);
    assert.match(form, /<form method="post" action="http:[^"]*\/issuer\/\w+" data-forward>/);
    assert.match(form, /name="MD" value="a &#34;quoted&#34; &#60;one&#62;"/);
  });

  it("believe no return without an answer, with a broken one, or with another payment's", async () => {
    const [hold, other] = [asked(), asked()];
    const { page } = await waiting(hold);
    const issuer = await toIssuer(page);
    const { page: otherPage } = await waiting(other);
    const otherBack = await answerIssuer(await toIssuer(otherPage), 'confirm');
    const foreign = new URL(otherBack).search;
    for (const query of [
      '',
      '?redirectResult=',
      '?redirectResult=broken',
      '?redirectResult=a&redirectResult=b',
      foreign,
    ]) {
      const { status, location } = await open(`${page}/return${query}`);
      assert.deepEqual([status, location], [400, undefined], query);
      const { finding, result } = await inquire(hold);
      assert.deepEqual([finding, ...said(result)], [Finding.AT_WORK, 'ACCEPTED', '']);
    }
    assert.equal((await open(at(otherBack))).status, 303);
    assert.deepEqual(said((await inquire(other)).result), ['APPROVED', '']);
    assert.equal((await open(at(await answerIssuer(issuer, 'confirm')))).status, 303);
    assert.deepEqual(said((await inquire(hold)).result), ['APPROVED', '']);
  });
});
