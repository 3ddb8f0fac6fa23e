/** A real PNG of one colour, whose lines are `width` pixels of RGB. */
export declare function pngOf(width: number, height: number, [r, g, b]?: [number, number, number]): Buffer;
/** The markers of a JPEG (baseline, with a comment before the frame), without a picture in it. */
export declare function jpegOf(width: number, height: number): Buffer;
/** The header of a lossless WebP. */
export declare function webpOf(width: number, height: number): Buffer;
