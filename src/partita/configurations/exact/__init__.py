"""Dense sets: tables over all subsets."""
