import assert from 'node:assert/strict';
import { isReturnUrl } from '../../platform/return-url.ts';

describe('isReturnUrl()', () => {
  const good = [
    'https://shop.example/return?a=1#b',
    'https://127.evil.com/',
    'http://localhost:8080/return',
    'http://LOCALHOST./',
    'http://shop.localhost/',
    'http://127.0.0.1/',
    'http://127.255.3.4:1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
  ];
  const bad = [
    '',
    'shop',
    '/return',
    'http://shop.example/',
    'http://127.evil.com/',
    'http://127.0.0.1.evil.com/',
    'http://127.0.0.1@evil.com/',
    'http://localhost.evil.com/',
    'http://notlocalhost/',
    'http://evil.com/#127.0.0.1',
    'http://10.0.0.1/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[::2]/',
    'http://[fe80::1]/',
    'https://user@shop.example/',
    'https://:word@shop.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://localhost/',
    'https://',
    'http://１２７.0.0.1/',
    ' https://shop.example/',
    'https://shop.example/\n',
    'https://shop\t.example/',
    'https://shop.example/\u202e',
  ];
  for (const text of good) it(`accepts ${text}`, () => assert.equal(isReturnUrl(text), true));
  for (const text of bad) it(`rejects ${JSON.stringify(text)}`, () => assert.equal(isReturnUrl(text), false));
});
