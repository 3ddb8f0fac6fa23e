import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { unwritable } from '../../adapters/files/unwritable.ts';
import { projectYaml } from '../../domain/configuration/project-yaml.ts';
import { checkLogo } from '../../domain/experience/logo-file.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { StartError } from '../../instance.ts';
import { type Command } from '../command.ts';
import { withInstance } from '../with-instance.ts';

export const pull: Command = {
  name: 'pull',
  summary: 'Writes the settings of projects to a directory of YAML files, for plan and apply.',
  operands: ['<directory>'],
  options: { project: { type: 'string', value: 'slug', description: 'this project; default: all' } },
  notes: ['Contains no secrets, users or keys. Overwrites the files of the same projects.'],
  async run(input, context) {
    const directory = resolve(input.operands[0] as string);
    const slug = input.text('project');
    return withInstance(context, async ({ services, interrupted }) => {
      const where = { builtIn: null, ...(slug !== undefined && { slug }) };
      const projects = await services.db.reader().find(Project, where, { orderBy: { slug: 'asc' } });
      if (slug !== undefined && projects.length === 0) throw new StartError(`There is no project ${slug}.`);
      try {
        mkdirSync(directory, { recursive: true });
      } catch (error) {
        throw unwritable(directory, error);
      }
      for (const project of projects) {
        interrupted.throwIfAborted();
        const save = (bytes: Uint8Array, [name]: readonly unknown[]) => {
          const file = `${project.slug}-${String(name)}.${checkLogo(bytes).type.replace('image/', '')}`;
          replace(join(directory, file), bytes);
          return file;
        };
        const document = await services.configurations.document(project);
        replace(join(directory, `${project.slug}.yaml`), projectYaml(document, save));
        context.print(join(directory, `${project.slug}.yaml`));
      }
      return 0;
    });
  },
};

/** Writes a file atomically: if the disk is full, the earlier one stays. Throws one line for the operator. */
function replace(path: string, content: string | Uint8Array): void {
  const draft = `${path}.partial`;
  try {
    writeFileSync(draft, content);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw unwritable(path, error);
  }
}
