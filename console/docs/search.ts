/** A section of a page, as the search finds it. */
export interface Section {
  /** Address with its anchor. */
  path: string;
  /** Title of its page. */
  page: string;
  title: string;
  /** Lower case. */
  text: string;
}

const limit = 12;

/** The sections that have each word of a search; those with them in their titles come first. */
export function searched(sections: readonly Section[], search: string): Section[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const scoreOf = ({ title, page, text }: Section) => {
    const [inTitle, inPage] = [title.toLowerCase(), page.toLowerCase()];
    const scores = words.map((word) => {
      if (inTitle.startsWith(word)) return 8;
      if (inTitle.includes(word)) return 4;
      if (inPage.includes(word)) return 2;
      return text.includes(word) ? 1 : 0;
    });
    return scores.includes(0) ? 0 : scores.reduce<number>((sum, score) => sum + score, 0);
  };
  return sections
    .map((section) => ({ section, score: scoreOf(section) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ section }) => section);
}
