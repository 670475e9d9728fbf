import assert from 'node:assert/strict';
import { isInstalled } from '../../docs/is-installed.ts';
import { CAUSES, NOW_SECONDS } from '../webhooks/causes.ts';
import { python } from './python.ts';

describe('verify() in Python', () => {
  before(function () {
    if (!isInstalled('python3')) this.skip();
  });

  it('says the same of each request as verify() of the npm package', async () => {
    const calls = CAUSES.map(([, headers, body, secrets]) => [headers, body, secrets]);
    const found = await python('http://x', 'k', [
      'answer = []',
      `for headers, body, secrets in json.loads(${JSON.stringify(JSON.stringify(calls))}):`,
      '    raw = body.encode() if isinstance(body, str) else body',
      '    try:',
      `        answer.append(verify(headers, raw, secrets, now=${NOW_SECONDS})["requestId"])`,
      '    except InvalidNotification as error:',
      '        answer.append(error.reason)',
      '        assert "whsec_" not in str(error)',
    ]);
    assert.deepEqual(
      found.map((reason: string, index: number) => [CAUSES[index]?.[0], reason]),
      CAUSES.map(([what, , , , reason = 'r']) => [what, reason]),
    );
  });

  it('raises nothing else, whatever it is called with', async () => {
    const found = await python('http://x', 'k', [
      'from holdfast import InvalidSecret',
      'answer = []',
      'for odd in [None, 0, "", "text", [], {}, object(), b"x"]:',
      `    for args in [(odd, b"{}", ["whsec_" + "A" * 32]), ({}, odd, ["whsec_" + "A" * 32]), ({}, b"{}", odd), ({}, b"{}", [odd])]:`,
      '        try:',
      '            verify(*args)',
      '        except (InvalidNotification, InvalidSecret) as error:',
      '            answer.append(type(error).__name__)',
    ]);
    assert.equal(found.length, 32);
  });
});
