import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseEncryptionKeys } from '../../services/core/storage/cipher.ts';
import { useStage } from '../gateway/stage.ts';
import { namedCode } from './code-blocks.ts';

const block = namedCode('security.md');

describe('the commands in docs/security.md', () => {
  const stage = useStage();

  const run = async (name: string) => {
    const env = { ...process.env, BASE: stage.origin };
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block(name)], { env })).stdout;
  };

  it('create an encryption key that core accepts', async () => {
    const [key] = parseEncryptionKeys((await run('new-key')).trim());
    assert.equal(key?.key.length, 32);
  });

  it('print from outside what the document shows below them', async () => {
    const printed = (await run('outside')).trim().split('\n');
    const expected = [...block('outside').matchAll(/# (\d+)$/gm)].map(([, number]) => number);
    assert.deepEqual(printed, expected);
  });
});
