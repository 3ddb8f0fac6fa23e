import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { ExperienceDraft } from './experience-draft.entity.ts';
import { ExperienceVersion } from './experience-version.entity.ts';
import { Logo } from './logo.entity.ts';

const nouns = {
  experience: {},
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    experience: typeof nouns;
  }
}

export const experienceNouns = {
  nouns,
  entities: [ExperienceDraft, ExperienceVersion, Logo],
  transfer: [
    { type: 'logo', table: 'logos', parent: childOf('project'), key: ['id'] },
    { type: 'experience', table: 'experience_versions', parent: childOf('project'), key: ['id'] },
  ],
} satisfies Declaration;
