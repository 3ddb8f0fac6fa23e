import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { ExperienceDraft } from './experience-draft.entity.ts';
import { ExperienceVersion } from './experience-version.entity.ts';
import { Logo } from './logo.entity.ts';

const nouns = {
  experience: {},
} as const;

const events = {
  'experience.published': ['administration', '{actor} published the branding of {subject}'],
  'experience.reverted': ['administration', '{actor} reverted the branding of {subject}'],
  'logo.uploaded': ['administration', '{actor} uploaded a logo for {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    experience: typeof nouns;
  }
  interface Events {
    experience: typeof events;
  }
}

export const experienceNouns = {
  nouns,
  events,
  entities: [ExperienceDraft, ExperienceVersion, Logo],
  transfer: [
    { type: 'logo', table: 'logos', parent: childOf('project'), key: ['id'] },
    { type: 'experience', table: 'experience_versions', parent: childOf('project'), key: ['id'] },
  ],
} satisfies Declaration;
