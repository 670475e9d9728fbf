/** Each client calls the merchants' routes of the OpenAPI document, no more and no less. */
import assert from 'node:assert/strict';
import { Holdfast } from '../../client/holdfast.ts';
import { createDocument } from '../../gateway/openapi/document.ts';
import { isInstalled } from '../docs/is-installed.ts';
import { python } from './python/python.ts';

const CALLS = Object.entries(createDocument().paths)
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, route]) => ({ method, path, route })))
  .filter(({ route }) => 'apiKey' in (route.security[0] ?? {}))
  .map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'ID')}`)
  .sort();

describe('the clients', () => {
  it('the package has a method for each route of the document', async () => {
    assert(CALLS.length > 20);
    const asked: string[] = [];
    const fetch = async (url: string | URL | Request, { method = 'GET', headers }: RequestInit = {}) => {
      asked.push(`${method} ${new URL(String(url)).pathname}`);
      // A stream would be read for ever.
      const isStream = new Headers(headers).get('accept') === 'text/event-stream';
      const type = isStream ? 'application/problem+json' : 'application/json';
      const status = isStream ? 410 : 200;
      return new Response('{"items":[],"code":"STREAM_TOKEN_TOO_OLD"}', { status, headers: { 'content-type': type } });
    };
    const holdfast = new Holdfast({ baseUrl: 'http://127.0.0.1', apiKey: 'k', fetch });
    for (const method of Object.values(holdfast).flatMap((group) => Object.values<Method>(group))) {
      const answer = method('ID', {});
      await (Symbol.asyncIterator in answer ? answer[Symbol.asyncIterator]().next() : answer).catch(() => undefined);
    }
    const named = asked.map((call) => call.replace(encodeURIComponent(String({})), 'ID'));
    assert.deepEqual(named.sort(), CALLS);
  });

  it('the package in Python has a method for each route, and verify()', async function () {
    if (!isInstalled('python3')) this.skip();
    const asked = await python('http://x', 'k', [
      'import inspect, holdfast',
      'answer = []',
      'def note(method, path): answer.append(method + " " + path.split("?")[0])',
      'heard = holdfast._Heard(200, "DONE", {"items": []})',
      'h._send = lambda call, timeout: note(call.method, call.path) or heard',
      'h._watch = lambda path, *rest: note("GET", path) or []',
      'for name, method in inspect.getmembers(h, inspect.ismethod):',
      '    if name.startswith("_"): continue',
      '    needed = [each for each in inspect.signature(method).parameters.values() if each.default is each.empty]',
      '    called = method(*["ID" for each in needed if each.kind is each.POSITIONAL_OR_KEYWORD])',
      '    if called is not None and not isinstance(called, dict): list(called)',
      'assert callable(holdfast.verify)',
    ]);
    assert.deepEqual(asked.sort(), CALLS);
  });
});

type Method = (...args: unknown[]) => Promise<unknown> | AsyncIterable<unknown>;
