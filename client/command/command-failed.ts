/** Thrown by a command that did its work and found something wrong: exit code 1. `--json` prints the findings, too. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly findings: object;

  constructor(message: string, findings: object = {}) {
    super(message);
    this.findings = findings;
  }
}
