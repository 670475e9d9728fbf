import { createHash, timingSafeEqual } from 'node:crypto';

/** Returns whether an authorization header shows one of the tokens, which are joined by commas; in constant time. */
export function bearerCheck(tokens: string): (authorization: string) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const expected = tokens.split(',').map(hash);
  return (authorization) => {
    const shown = hash(/^Bearer (.+)$/i.exec(authorization)?.[1] ?? '');
    return expected.some((each) => timingSafeEqual(shown, each));
  };
}
