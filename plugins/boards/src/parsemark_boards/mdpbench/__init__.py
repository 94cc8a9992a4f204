"""MDPBench (Yuliang Liu and others): pages in seventeen languages, digital and photographed."""
