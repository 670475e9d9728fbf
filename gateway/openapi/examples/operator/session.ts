import type { Example } from '../example.ts';

const session = {
  operator: 'alice',
  csrfToken: 'b0gRyZ0cYkq3oVn3yJ2mJXHkq8b3wq1oJ7uTn2m5x4E',
  expiresAt: '2026-11-21T20:00:00.000Z',
};

/** A console session; what the other examples ask, the operator token asks. */
export const SESSION_EXAMPLES: readonly Example[] = [
  {
    route: 'signIn',
    name: 'signIn',
    summary: 'Alice signs in',
    body: { token: 'the-operator-token', operator: 'alice' },
    status: 200,
    answer: session,
  },
  { route: 'getSession', name: 'session', summary: 'By the cookie', status: 200, answer: session },
  { route: 'signOut', name: 'signOut', summary: 'Alice signs out', status: 204 },
];
