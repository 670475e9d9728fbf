import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { curlOf } from '../../../gateway/openapi/curl.ts';
import { EXAMPLES, ROUTES } from '../../../gateway/openapi/document.ts';
import { isInstalled } from '../../docs/is-installed.ts';

/** The first example of each route, and the command that the page shows for it. */
const SAMPLES = Object.entries(ROUTES).map(([name, route]) => {
  const example = EXAMPLES.find((one) => one.route === name);
  assert(example, name);
  return { name, ...route, example, command: curlOf(route, example) };
});

describe('curlOf()', () => {
  before(function () {
    if (!isInstalled('bash')) this.skip();
  });

  it('returns a shell command for every route, with the path, the credential and the body of its example', () => {
    const script = SAMPLES.map(({ command }) => `${command}\necho -e '\\x01'`).join('\n');
    const heard = execFileSync('bash', ['--norc', '-euc', `curl() { printf '%s\\x02' "$@"; }\n${script}`], {
      env: { API_KEY: 'hf_key', OPERATOR_TOKEN: 'op', SIGNATURE: 'sig' },
      encoding: 'utf8',
    });
    const calls = heard.split('\x01\n').map((call) => call.split('\x02').slice(0, -1));
    for (const [index, { name, method, path, example }] of SAMPLES.entries()) {
      const words = calls[index] ?? [];
      const url = new URL(words.find((word) => word.startsWith('https:')) ?? '');
      assert.match(url.pathname, new RegExp(`^${path.replace(/\{\w+\}/g, '[^/{}<>]+')}$`), name);
      assert.equal(words.includes(method.toUpperCase()), method !== 'get', name);
      const body = words[words.indexOf('-d') + 1];
      if (example.body !== undefined) assert.deepEqual(JSON.parse(body ?? ''), example.body, name);
      const { credential } = ROUTES[name] ?? {};
      if (credential === 'apiKey') assert(words.includes('Authorization: Bearer hf_key'), name);
      if (credential === 'operator') assert(words.includes('Authorization: Bearer op'), name);
      if (credential === 'senderSignature') assert(words.includes('X-Hub-Signature-256: sig'), name);
      if (credential === 'serviceSignature') assert(words.includes('X-Service-Signature: sig'), name);
    }
  });
});
