import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Code } from '@connectrpc/connect';
import { ROOT } from '../../.ci/sources.ts';
import { Problem, type ProblemCode } from '../../gateway/http/problem.ts';
import { ErrorReason } from '../../proto/gen/holdfast/v1/error_pb.js';
import { KIND_NAMES, OPERATION_KINDS, type StatusInfo } from '../../services/core/domain/kinds.ts';
import { statusOf } from '../../services/core/domain/operation.ts';
import { HoldfastError, type RefusalCode } from '../../services/core/domain/refusal.ts';
import { translateError } from '../../services/core/rpc/server/translate-error.ts';
import { BEHAVIOURS } from '../../services/sandbox/behaviour.ts';
import { groupInFours, TEST_CARDS } from '../../services/sandbox/checkout/test-card.ts';

describe('docs/product.md', () => {
  let product: string;

  before(async () => {
    product = await readFile(`${ROOT}docs/product.md`, 'utf8');
  });

  it('has the HTTP and gRPC status of each refusal', () => {
    const rows = tableIn(product, 'Refusals');
    const told = rows.flatMap(([codes = '', http, grpc]) =>
      quotedIn(codes).map((code) => [code, http, grpc].join(' ')),
    );
    const reasons = Object.keys(ErrorReason).filter((name) => Number.isNaN(Number(name)) && name !== 'UNSPECIFIED');
    assert.deepEqual(
      told.sort(),
      reasons
        .map((code) => [code, new Problem(code as ProblemCode).status, grpcOf(code as RefusalCode)].join(' '))
        .sort(),
    );
  });

  it('has the OK or KO of each statusInfo', () => {
    const rows = tableIn(product, 'Notifications');
    const told = rows.flatMap(([words = '', status]) => quotedIn(words).map((word) => [word, status] as const));
    const words = new Set(told.map(([word]) => word));
    for (const kind of KIND_NAMES)
      assert(words.has(OPERATION_KINDS[kind].successWord), `it says nothing about ${kind}`);
    assert.deepEqual(
      told,
      told.map(([word]) => [word, statusOf(word as StatusInfo)]),
    );
  });

  it('describes how each token of the sandbox behaves', () => {
    const cells = tableIn(product, 'Sandbox').flatMap(([tokens = '']) => quotedIn(tokens));
    const names = cells.map((token) => token.replace(/^(tok_sandbox)?_/, ''));
    assert.deepEqual(names.sort(), Object.keys(BEHAVIOURS).sort());
  });

  it('lists the cards of the sandbox', () => {
    const listed = [...product.matchAll(/^\| ((?:\d{4} ){3}\d{3,4}) \|/gm)].map(([, number]) => number);
    assert.deepEqual(
      listed,
      TEST_CARDS.map(({ number }) => groupInFours(number)),
    );
  });
});

/** The status in gRPC's spelling. */
function grpcOf(code: RefusalCode): string {
  const name = Code[translateError(new HoldfastError(code, '')).code] ?? '';
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/** Returns the cells of the first table under a heading, without its header. */
function tableIn(text: string, heading: string): string[][] {
  const [, chapter = ''] = text.split(`\n## ${heading}\n`);
  const lines = chapter.split('\n');
  const from = lines.findIndex((line) => line.startsWith('|---'));
  const rows = lines.slice(from + 1);
  const count = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, count).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function quotedIn(cell: string): string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
}
